/* Who gets past a waiting room: with its token, for this schedule, himself; or by the word of the CDN. */
#include "base/clock.h"
#include "filter_scene.h"
#include "http/query.h"

#include <stdio.h>

static struct filter_scene scene;
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    scene_open(&scene);
    arena_init(&arena, 1 << 20);
    scene.settings.waiting_room_schedules = STR("7, 8");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    scene_close(&scene);
    return 0;
}

static struct str entry_token(struct str key, const char *schedule, const char *user, int64_t seconds)
{
    return jwt_sign(&arena, key,
                    &(struct jwt_claims){.subject = str_from(schedule),
                                         .user_id = str_from(user),
                                         .expires_at = clock_wall_ms() / MS_PER_S + seconds});
}

static void come(enum http_method method, const char *target, const char *header, struct str token)
{
    char headers[2048];
    snprintf(headers, sizeof(headers), "%s%.*s\r\n", header, STR_ARG(token));
    scene.route = (struct route){.entry_token = true};
    scene_request(&scene, method, target, headers);
    assert_true(query_accept(&scene.rq));
    scene.rq.identity.user_id = STR("alice");
}

static void test_where_it_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        enum http_method method;
        const char *target;
        bool asked;
    } rows[] = {
        {HTTP_POST, "/?scheduleId=7", true},
        {HTTP_PUT, "/?scheduleId=8", true},
        {HTTP_PATCH, "/?scheduleId=7", true},
        {HTTP_GET, "/?scheduleId=7", false},
        {HTTP_DELETE, "/?scheduleId=7", false},
        {HTTP_POST, "/?scheduleId=9", false},
        {HTTP_POST, "/", false},
        {HTTP_POST, "/?scheduleId=", false},
        {HTTP_POST, "/?scheduleId=%37", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        come(rows[i].method, rows[i].target, "X-Other: ", STR("x"));
        if (rows[i].asked)
            assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
        else
            assert_admits(&scene, filter_entry_token);
    }
    come(HTTP_POST, "/?scheduleId=7", "X-Other: ", STR("x"));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
    assert_true(str_contains(buf_str(&scene.rq.reply.body), STR("\"redirectTo\":\"/queue\"")));
    come(HTTP_POST, "/?scheduleId=7", "X-Other: ", STR("x"));
    scene.route.entry_token = false;
    assert_admits(&scene, filter_entry_token);

    scene.settings.fcfs_schedule = STR("8"); /* what requests without scheduleId mean */
    come(HTTP_POST, "/", "X-Other: ", STR("x"));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
    scene.settings.fcfs_schedule = (struct str){NULL, 0};
    scene.settings.waiting_room_schedules = STR("*");
    come(HTTP_POST, "/", "X-Other: ", STR("x"));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
    scene.settings.waiting_room_schedules = STR("7, 8");
}

static void test_good_token(void **state)
{
    (void)state;
    struct str token = entry_token(STR(SCENE_ENTRY_KEY), "7", "alice", 600);
    static const char *const ways[] = {"X-Queue-Entry-Token: ", "x-queue-token: ", "Cookie: a=b; queue_entry_token="};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        come(HTTP_POST, "/?scheduleId=7", ways[i], token);
        assert_admits(&scene, filter_entry_token);
    }
}

static void test_bad_token(void **state)
{
    (void)state;
    struct jwt_claims access = {.issuer = STR("us"),
                                .audience = STR("you"),
                                .subject = STR("7"),
                                .role = ROLE_USER,
                                .token_id = STR("1"),
                                .expires_at = clock_wall_ms() / MS_PER_S + 60};
    struct jwt_claims both = access;
    both.user_id = STR("alice");
    const struct str bad[] = {
        STR(""),
        STR("x"),
        entry_token(STR(SCENE_KEY), "7", "alice", 600),
        entry_token(STR(SCENE_ENTRY_KEY), "8", "alice", 600),
        entry_token(STR(SCENE_ENTRY_KEY), "7", "bob", 600),
        entry_token(STR(SCENE_ENTRY_KEY), "7", "", 600),
        entry_token(STR(SCENE_ENTRY_KEY), "7", "alice", 0),
        jwt_sign(&arena, STR(SCENE_KEY), &access),
        jwt_sign(&arena, STR(SCENE_ENTRY_KEY), &both), /* an access token, even under this key */
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        come(HTTP_POST, "/?scheduleId=7", "X-Queue-Entry-Token: ", bad[i]);
        assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
    }
    come(HTTP_POST, "/?scheduleId=7", "X-Queue-Entry-Token: ", entry_token(STR(SCENE_ENTRY_KEY), "7", "", 600));
    scene.rq.identity.user_id = (struct str){NULL, 0}; /* nobody is not nobody's */
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
}

static void test_cdn(void **state)
{
    (void)state;
    come(HTTP_POST, "/?scheduleId=7", "X-CloudFront-Verified: ", STR(""));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED); /* no secret is not an empty one */
    scene.settings.cloudfront_secret = STR("the-secret-of-the-cdn");
    come(HTTP_POST, "/?scheduleId=7", "X-CloudFront-Verified: ", STR("the-secret-of-the-cdn"));
    assert_admits(&scene, filter_entry_token);
    come(HTTP_POST, "/?scheduleId=7", "X-CloudFront-Verified: ", STR("the-secret-of-the-cdm"));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
    come(HTTP_POST, "/?scheduleId=7", "X-CloudFront-Verified: ", STR("true"));
    assert_refuses(&scene, filter_entry_token, ERR_QUEUE_TOKEN_REQUIRED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where_it_is_asked_for),
        cmocka_unit_test(test_good_token),
        cmocka_unit_test(test_bad_token),
        cmocka_unit_test(test_cdn),
    };
    return cmocka_run_group_tests_name("filter: entry token", tests, set_up, tear_down);
}
