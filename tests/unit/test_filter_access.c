/* Every access × every caller. */
#include "base/clock.h"
#include "filter_scene.h"

enum { PASSES = -1 };

static const struct identity nobody, refused = {.refused = true},
                                     so_called = {.by_header = true, .user_id = STR_INIT("x")};
static const struct identity user = {.role = ROLE_USER}, staff = {.role = ROLE_STAFF}, admin = {.role = ROLE_ADMIN};

static const struct {
    enum route_access access;
    const struct identity *identity;
    const char *headers;
    int outcome; /* an error, or PASSES */
} rows[] = {
    {ACCESS_PUBLIC, &nobody, "", PASSES},
    {ACCESS_PUBLIC, &refused, "", PASSES},

    {ACCESS_USER, &nobody, "", ERR_FORBIDDEN}, /* not even if the filter before it had let it pass */
    {ACCESS_USER, &so_called, "", ERR_FORBIDDEN},
    {ACCESS_USER, &user, "", PASSES},
    {ACCESS_USER, &staff, "", PASSES},
    {ACCESS_USER, &admin, "", PASSES},

    {ACCESS_STAFF, &nobody, "", ERR_FORBIDDEN},
    {ACCESS_STAFF, &user, "", ERR_FORBIDDEN},
    {ACCESS_STAFF, &staff, "", PASSES},
    {ACCESS_STAFF, &admin, "", PASSES},

    {ACCESS_ADMIN, &nobody, "", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &so_called, "", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &refused, "", ERR_UNAUTHORIZED},
    {ACCESS_ADMIN, &user, "", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &staff, "", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &admin, "", PASSES},
    {ACCESS_ADMIN, &nobody, "X-Admin-Token: the-operator\r\n", PASSES},
    {ACCESS_ADMIN, &refused, "X-Admin-Token: the-operator\r\n", PASSES},
    {ACCESS_ADMIN, &user, "X-Admin-Token: the-operator\r\n", PASSES},
    {ACCESS_ADMIN, &nobody, "X-Admin-Token: the-operatos\r\n", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &nobody, "X-Admin-Token:\r\n", ERR_FORBIDDEN},
    {ACCESS_ADMIN, &nobody, "Authorization: Bearer the-operator\r\n", ERR_FORBIDDEN},

    {ACCESS_INTERNAL, &nobody, "", ERR_UNAUTHORIZED},
    {ACCESS_INTERNAL, &admin, "", ERR_UNAUTHORIZED},
    {ACCESS_INTERNAL, &nobody, "Authorization: Basic the-services-token\r\n", ERR_UNAUTHORIZED},
    {ACCESS_INTERNAL, &nobody, "X-Admin-Token: the-operator\r\n", ERR_UNAUTHORIZED},
    {ACCESS_INTERNAL, &nobody, "Authorization: Bearer another\r\n", ERR_FORBIDDEN},
    {ACCESS_INTERNAL, &nobody, "Authorization: Bearer the-services-tokem\r\n", ERR_FORBIDDEN},
    {ACCESS_INTERNAL, &nobody, "Authorization: Bearer the-services-token\r\n", PASSES},
};

static struct filter_scene scene;

static void look(size_t i)
{
    scene.route = (struct route){.access = rows[i].access};
    scene_request(&scene, HTTP_GET, "/", rows[i].headers);
    scene.rq.identity = *rows[i].identity;
    bool passed = filter_access(scene.gateway, &scene.rq);
    int status = passed ? 200 : scene.rq.reply.status;
    if (passed != (rows[i].outcome == PASSES) || (!passed && status != error_row((enum error)rows[i].outcome)->status))
        fail_msg("row %zu: %d", i, status);
}

static void test_table(void **state)
{
    (void)state;
    scene_open(&scene);
    scene.settings.admin_token = STR("the-operator");
    scene.settings.internal_api_token = STR("the-services-token");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        look(i);
    scene_close(&scene);
}

/* Guessing: an address that has sent too many wrong tokens is not told any more when it finds the right one. */
static void test_guessing(void **state)
{
    (void)state;
    int told = 0;
    scene_open(&scene);
    scene.settings.admin_token = STR("the-operator");
    scene.settings.rate_limit_auth = 10;
    scene.route = (struct route){.access = ACCESS_ADMIN};
    for (int i = 0; i < 15; i++) {
        scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: a-guess\r\n");
        assert_false(filter_access(scene.gateway, &scene.rq));
        told += scene.rq.reply.status == 403;
    }
    assert_int_equal(told, 10);
    assert_int_equal(scene.rq.reply.status, 429);
    assert_true(str_contains(buf_str(&scene.rq.reply.headers), STR("Retry-After: 60\r\n")));

    scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: the-operator\r\n");
    assert_refuses(&scene, filter_access, ERR_RATE_LIMITED);
    scene_request(&scene, HTTP_GET, "/", ""); /* signed in as an administrator, one needs no token */
    scene.rq.identity = admin;
    assert_admits(&scene, filter_access);
    scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: the-operator\r\n");
    scene.rq.client_address = STR("6.6.6.6");
    assert_admits(&scene, filter_access);
    scene.rq.client_address = STR("5.5.5.5");

    clock_move(61 * MS_PER_S);
    for (int i = 0; i < 50; i++) { /* the right one, however often, is no guess */
        scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: the-operator\r\n");
        assert_admits(&scene, filter_access);
    }
    scene_close(&scene);
}

/* The same while the shared state cannot be reached: this server counts by itself. */
static void test_guessing_alone(void **state)
{
    (void)state;
    scene_open(&scene);
    struct coord *whole = scene.gateway->parts.coord;
    scene.gateway->parts.coord = coord_open(&(struct coord_settings){.max_entries = 0});
    scene.settings.admin_token = STR("the-operator");
    scene.settings.rate_limit_auth = 10;
    scene.route = (struct route){.access = ACCESS_ADMIN};
    for (int i = 0; i < 50; i++) { /* is no guess */
        scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: the-operator\r\n");
        assert_admits(&scene, filter_access);
    }
    for (int i = 0; i < 10; i++) {
        scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: a-guess\r\n");
        assert_refuses(&scene, filter_access, ERR_FORBIDDEN);
    }
    scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: a-guess\r\n");
    assert_refuses(&scene, filter_access, ERR_RATE_LIMITED);
    scene_request(&scene, HTTP_GET, "/", "X-Admin-Token: the-operator\r\n");
    assert_refuses(&scene, filter_access, ERR_RATE_LIMITED);
    coord_close(scene.gateway->parts.coord);
    scene.gateway->parts.coord = whole;
    scene_close(&scene);
}

/* What is not configured lets nobody in, also nobody with nothing. */
static void test_without_tokens(void **state)
{
    (void)state;
    scene_open(&scene);
    scene.route = (struct route){.access = ACCESS_ADMIN};
    scene_request(&scene, HTTP_GET, "/", "X-Admin-Token:\r\n");
    assert_refuses(&scene, filter_access, ERR_NOT_FOUND);
    scene_request(&scene, HTTP_GET, "/", "");
    scene.rq.identity = user;
    assert_refuses(&scene, filter_access, ERR_FORBIDDEN);
    scene_request(&scene, HTTP_GET, "/", "");
    scene.rq.identity = admin;
    assert_admits(&scene, filter_access);
    scene.route = (struct route){.access = ACCESS_INTERNAL};
    scene_request(&scene, HTTP_GET, "/", "Authorization: Bearer \r\n");
    assert_false(filter_access(scene.gateway, &scene.rq));
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_guessing),
                                       cmocka_unit_test(test_guessing_alone), cmocka_unit_test(test_without_tokens)};
    return cmocka_run_group_tests_name("filter: access", tests, NULL, NULL);
}
