/* Who a request is from: a good token, or the plain header where it is trusted, and never what the client claims. */
#include "base/clock.h"
#include "filter_scene.h"

#include <stdio.h>

static struct filter_scene scene;

static int set_up(void **state)
{
    (void)state;
    scene_open(&scene);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static void request_with(struct str token, const char *headers)
{
    scene_request(&scene, HTTP_GET, "/", headers);
    scene.rq.identity.token = token.ptr ? arena_copy(&scene.rq.arena, token) : token;
}

static const struct str none = {NULL, 0};

static void test_claims_of_the_client_are_taken_away(void **state)
{
    (void)state;
    scene.route = (struct route){.access = ACCESS_PUBLIC};
    request_with(none,
                 "X-User-Id: root\r\nA: 1\r\nx-user-role: ADMIN\r\nX-USER-EMAIL: a@b.c\r\nB: 2\r\nX-User-Id: 2\r\n");
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.role, ROLE_ANONYMOUS);
    assert_int_equal(scene.rq.identity.user_id.len, 0);
    assert_null(request_header(&scene.rq, STR("X-User-Id")).ptr);
    assert_null(request_header(&scene.rq, STR("X-User-Role")).ptr);
    assert_null(request_header(&scene.rq, STR("X-User-Email")).ptr);
    assert_str_equal(request_header(&scene.rq, STR("A")), STR("1"));
    assert_str_equal(request_header(&scene.rq, STR("B")), STR("2"));
}

static void test_good_token(void **state)
{
    (void)state;
    scene.route = (struct route){.access = ACCESS_USER};
    for (int i = 0; i < 2; i++) { /* verified, then remembered */
        request_with(scene_token(&scene, "alice", ROLE_STAFF), "X-User-Id: bob\r\n");
        assert_admits(&scene, filter_identity);
        assert_int_equal(scene.rq.identity.role, ROLE_STAFF);
        assert_str_equal(scene.rq.identity.user_id, STR("alice"));
        assert_str_equal(scene.rq.identity.token_id, STR("the-token"));
        assert_str_equal(scene.rq.identity.family, STR("the-family"));
        assert_true(scene.rq.identity.expires_at > clock_wall_ms() / MS_PER_S);
        assert_false(scene.rq.identity.by_header || scene.rq.identity.refused);
    }
}

static void test_bad_token(void **state)
{
    (void)state;
    for (enum route_access access = ACCESS_PUBLIC; access <= ACCESS_ADMIN; access++) {
        scene.route = (struct route){.access = access};
        request_with(STR("a.b.c"), "");
        if (access == ACCESS_USER || access == ACCESS_STAFF)
            assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
        else
            assert_admits(&scene, filter_identity);
        assert_int_equal(scene.rq.identity.role, ROLE_ANONYMOUS);
        assert_true(scene.rq.identity.refused);
    }
    request_with(none, "");
    scene.route = (struct route){.access = ACCESS_USER};
    assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
    assert_true(str_contains(buf_str(&scene.rq.reply.headers), STR("WWW-Authenticate: Bearer\r\n")));
}

static void test_expires_also_when_remembered(void **state)
{
    (void)state;
    struct str token = scene_token(&scene, "alice", ROLE_USER);
    scene.route = (struct route){.access = ACCESS_USER};
    request_with(token, "");
    assert_admits(&scene, filter_identity);
    clock_move(3601 * MS_PER_S);
    request_with(token, "");
    assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
    clock_move(-3601 * MS_PER_S);
}

/* Tokens of other kinds, however well signed. */
static void test_is_an_access_token(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    int64_t soon = clock_wall_ms() / MS_PER_S + 60;
    const struct jwt_claims strange[] = {
        {.subject = STR("alice"), .token_id = STR("1"), .expires_at = soon},
        {.subject = STR("alice"), .role = ROLE_USER, .expires_at = soon},
        {.subject = STR("7"), .user_id = STR("alice"), .token_id = STR("1"), .role = ROLE_USER, .expires_at = soon},
    };
    scene.route = (struct route){.access = ACCESS_USER};
    for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++) {
        struct jwt_claims claims = strange[i];
        claims.issuer = scene.keys.issuer;
        claims.audience = scene.keys.audience;
        request_with(jwt_sign(&arena, scene.keys.access, &claims), "");
        assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
    }
    arena_free(&arena);
}

/* Here the header is believed whoever sends it; who is believed otherwise: test_user_header.c. */
static void test_believed_header(void **state)
{
    (void)state;
    scene.settings.fcfs_trust_user_header = TRUST_USER_HEADER_ALWAYS;
    scene.route = (struct route){.access = ACCESS_PUBLIC, .rate = RATE_FCFS};
    request_with(none, "X-User-Id:  bob \r\n");
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.user_id, STR("bob"));
    assert_true(scene.rq.identity.by_header);
    assert_int_equal(scene.rq.identity.role, ROLE_ANONYMOUS); /* a name is not a proof */

    request_with(scene_token(&scene, "alice", ROLE_USER), "X-User-Id: bob\r\n");
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.user_id, STR("alice"));
    assert_false(scene.rq.identity.by_header);

    request_with(STR("a.b.c"), "X-User-Id: bob\r\n"); /* a bad token is ignored on a public route */
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.user_id, STR("bob"));

    scene.route.rate = RATE_GENERAL;
    request_with(none, "X-User-Id: bob\r\n");
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.user_id.len, 0);

    scene.route = (struct route){.access = ACCESS_USER, .rate = RATE_FCFS};
    request_with(none, "X-User-Id: bob\r\n");
    assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
    scene.settings.fcfs_trust_user_header = TRUST_USER_HEADER_AUTO;
}

/* A new guest's cookie, as the line of a request, with more behind it. */
static const char *cookie_of(struct str id, const char *more)
{
    static char line[256];
    struct str cookie = guest_sign(&scene.rq.arena, scene.keys.guest, id);
    snprintf(line, sizeof(line), "Cookie: guest=%.*s%s\r\n", STR_ARG(cookie), more);
    return line;
}

static void test_guest(void **state)
{
    (void)state;
    char kept[64];
    struct str made = guest_new(&scene.rq.arena), id = str_make(kept, made.len);
    memcpy(kept, made.ptr, made.len);
    assert_true(guest_is_id(id));

    scene.route = (struct route){.access = ACCESS_PUBLIC, .rate = RATE_FCFS};
    request_with(none, cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.user_id, id);
    assert_int_equal(scene.rq.identity.role, ROLE_ANONYMOUS);
    assert_false(scene.rq.identity.by_header);

    /* Nobody with a session becomes a guest because a token has expired. */
    request_with(STR("a.b.c"), cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.user_id.len, 0);
    request_with(none, cookie_of(id, "; refresh_token=x"));
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.user_id.len, 0);
    request_with(scene_token(&scene, "alice", ROLE_USER), cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.user_id, STR("alice"));

    /* Where guests are made, the old one is found again also by those who are signed in. */
    scene.route.rate = RATE_GUESTS;
    request_with(scene_token(&scene, "alice", ROLE_USER), cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_str_equal(scene.rq.identity.guest, id);
    assert_str_equal(scene.rq.identity.user_id, STR("alice"));

    scene.route.rate = RATE_GENERAL;
    request_with(none, cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.user_id.len, 0);

    scene.route.rate = RATE_FCFS;
    scene.settings.fcfs_guests = false;
    request_with(none, cookie_of(id, ""));
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.user_id.len, 0);
    scene.settings.fcfs_guests = true;
}

/* Last: what has been revoked stays so. */
static void test_revoked(void **state)
{
    (void)state;
    struct str token = scene_token(&scene, "alice", ROLE_USER);
    scene.route = (struct route){.access = ACCESS_USER};
    request_with(token, "");
    assert_admits(&scene, filter_identity);
    revoked_announce(scene.gateway->parts.revoked, STR("the-token"), clock_wall_ms() / MS_PER_S + 3600);
    request_with(token, "");
    assert_refuses(&scene, filter_identity, ERR_UNAUTHORIZED);
    scene.route.access = ACCESS_PUBLIC;
    request_with(token, "");
    assert_admits(&scene, filter_identity);
    assert_int_equal(scene.rq.identity.role, ROLE_ANONYMOUS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims_of_the_client_are_taken_away),
        cmocka_unit_test(test_good_token),
        cmocka_unit_test(test_bad_token),
        cmocka_unit_test(test_expires_also_when_remembered),
        cmocka_unit_test(test_is_an_access_token),
        cmocka_unit_test(test_believed_header),
        cmocka_unit_test(test_guest),
        cmocka_unit_test(test_revoked),
    };
    return cmocka_run_group_tests_name("filter: identity", tests, set_up, tear_down);
}
