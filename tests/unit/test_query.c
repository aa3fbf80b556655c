/* Which queries a route lets in: every one that can be read where something is read, only known names where something
 * changes. */
#include "http/query.h"
#include "http/router.h"
#include "test.h"

static struct request rq;

static bool accepts(enum http_method method, const char *const *names, struct str query)
{
    static struct route route;
    arena_free(&rq.arena);
    buf_free(&rq.reply.headers);
    buf_free(&rq.reply.body);
    rq = (struct request){.head.query = query, .route = &route};
    route = (struct route){.method = method, .query = names};
    arena_init(&rq.arena, 1 << 20);
    buf_init(&rq.reply.headers, 4096);
    buf_init(&rq.reply.body, 4096);
    bool accepted = query_accept(&rq);
    assert_int_equal(rq.reply.sent, !accepted);
    if (!accepted) {
        assert_int_equal(rq.reply.status, 400);
        assert_true(str_contains(buf_str(&rq.reply.body), STR("\"reason\":\"validation\"")));
    }
    return accepted;
}

static bool says(const char *text)
{
    return str_contains(buf_str(&rq.reply.body), str_from(text));
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&rq.arena);
    buf_free(&rq.reply.headers);
    buf_free(&rq.reply.body);
    return 0;
}

static void test_what_cannot_be_read(void **state)
{
    (void)state;
    static const struct str unreadable[] = {
        STR_INIT("scheduleId=friday&note=caf%E9"),
        STR_INIT("scheduleId=friday&note=%00"),
        STR_INIT("note=a&scheduleId=friday&note=b"),
        STR_INIT("note=%2"),
    };
    for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++)
        for (enum http_method method = HTTP_GET; method < HTTP_METHOD_COUNT; method++)
            assert_false(accepts(method, ROUTE_QUERY("scheduleId", "note"), unreadable[i]));

    struct buf many = BUF_INIT(4096);
    for (int i = 0; i <= URL_PARAMS_MAX; i++)
        buf_add_format(&many, "p%d&", i);
    assert_false(accepts(HTTP_GET, NULL, buf_str(&many)));
    assert_true(says("too many"));
    buf_free(&many);
}

static void test_reading_takes_anything(void **state)
{
    (void)state;
    assert_true(accepts(HTTP_GET, NULL, STR("")));
    assert_true(accepts(HTTP_GET, NULL, STR("utm_source=mail&v=3")));
    assert_true(accepts(HTTP_GET, ROUTE_QUERY("scheduleId"), STR("scheduleId=fr%69day&other")));
    assert_str_equal(request_query(&rq, STR("scheduleId")), STR("friday"));
    assert_str_equal(request_query(&rq, STR("other")), STR(""));
    assert_null(request_query(&rq, STR("none")).ptr);
}

static void test_a_change_takes_what_it_knows(void **state)
{
    (void)state;
    static const char *const names[] = {"scheduleId", "wrap", NULL};
    assert_true(accepts(HTTP_POST, names, STR("wrap=1&scheduleId=friday")));
    assert_true(accepts(HTTP_DELETE, names, STR("")));
    assert_true(accepts(HTTP_POST, NULL, STR("&&")));

    assert_false(accepts(HTTP_POST, names, STR("scheduleId=friday&schedulId=monday")));
    assert_true(says("takes no parameter schedulId; did you mean scheduleId?"));
    assert_false(accepts(HTTP_PUT, names, STR("scheduleid=friday")));
    assert_true(says("takes no parameter scheduleid; did you mean scheduleId?"));
    assert_false(accepts(HTTP_PATCH, names, STR("force=1")));
    assert_true(says("takes no parameter force.\""));
    assert_false(accepts(HTTP_DELETE, NULL, STR("%22%0A=")));
    assert_true(says("takes no parameter \\\"\\n."));
    assert_false(accepts(HTTP_POST, names, STR("=friday")));
}

static void test_a_long_name_is_not_repeated(void **state)
{
    (void)state;
    char name[100];
    memset(name, 'x', sizeof(name));
    assert_false(accepts(HTTP_POST, NULL, str_make(name, sizeof(name))));
    assert_false(says("xx"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_cannot_be_read),
        cmocka_unit_test(test_reading_takes_anything),
        cmocka_unit_test(test_a_change_takes_what_it_knows),
        cmocka_unit_test(test_a_long_name_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
