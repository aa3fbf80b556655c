#include "base/log.h"
#include "client_scene.h"
#include "test.h"

/* ---- answers ---- */

static void play_answers(struct scene *scene)
{
    struct http_answer answer;
    assert_int_equal(scene_get(scene, "/hello", &answer), HTTP_CALL_OK);
    assert_int_equal(answer.status, 200);
    assert_str_equal(answer.body, STR("hello"));
    assert_int_equal(answer.header_count, 2);
    assert_str_equal(http_answer_header(&answer, STR("x-kind")), STR("test"));
    assert_null(http_answer_header(&answer, STR("x-other")).ptr);

    assert_int_equal(scene_get(scene, "/chunked", &answer), HTTP_CALL_OK);
    assert_str_equal(answer.body, STR("hello"));
    assert_null(http_answer_header(&answer, STR("X-Trailer")).ptr);

    assert_int_equal(scene_get(scene, "/continue", &answer), HTTP_CALL_OK);
    assert_int_equal(answer.status, 200);
    assert_str_equal(http_answer_header(&answer, STR("X-Kind")), STR("test"));

    struct http_call head = {.method = HTTP_HEAD, .url = scene_url(scene, "/hello")};
    assert_int_equal(scene_call(scene, head, &answer), HTTP_CALL_OK);
    assert_int_equal(answer.body.len, 0);
}

static void test_answers(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_answers);
}

static void play_requests(struct scene *scene)
{
    struct http_answer answer;
    struct http_header headers[] = {{STR("X-First"), STR("1")},
                                    {STR("X-Empty"), STR("")},
                                    {STR("Content-Type"), STR("application/json")}};
    struct http_call post = {.method = HTTP_POST,
                             .url = scene_url(scene, "/echo"),
                             .headers = headers,
                             .header_count = 3,
                             .body = STR("{\"a\":1}")};
    log_set_trace(STR("0123456789abcdef0123456789abcdef"));
    assert_int_equal(scene_call(scene, post, &answer), HTTP_CALL_OK);
    log_set_trace(STR(""));
    assert_true(str_starts(answer.body, STR("POST /echo HTTP/1.1\r\n")));
    assert_true(
        str_contains(answer.body, STR("X-First: 1\r\nX-Empty:\r\nContent-Type: application/json\r\ntraceparent: "
                                      "00-0123456789abcdef0123456789abcdef-")));
    assert_true(str_contains(answer.body, STR("\r\nContent-Length: 7\r\n")));
    assert_str_equal(str_from_offset(answer.body, answer.body.len - 11), STR("\r\n\r\n{\"a\":1}"));
    assert_false(str_contains(answer.body, STR("Expect")));

    struct http_call put = {.method = HTTP_PUT, .url = scene_url(scene, "/echo")};
    assert_int_equal(scene_call(scene, put, &answer), HTTP_CALL_OK);
    assert_true(str_starts(answer.body, STR("PUT /echo")));
    assert_true(str_contains(answer.body, STR("Content-Length: 0\r\n")));
    assert_false(str_contains(answer.body, STR("Content-Type")));
    assert_false(str_contains(answer.body, STR("traceparent")));

    struct http_call delete = {.method = HTTP_DELETE, .url = scene_url(scene, "/echo")};
    assert_int_equal(scene_call(scene, delete, &answer), HTTP_CALL_OK);
    assert_true(str_starts(answer.body, STR("DELETE /echo")));
}

static void test_requests(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_requests);
}

static void play_bad_calls(struct scene *scene)
{
    static const struct http_header bad[] = {{STR_INIT("X-A"), STR_INIT("1\r\nX-B: 2")},
                                             {STR_INIT("X-A: 1\r\nX-B"), STR_INIT("2")},
                                             {STR_INIT(""), STR_INIT("1")}};
    for (size_t i = 0; i < 3; i++) {
        struct http_call call = {.url = scene_url(scene, "/hello"), .headers = &bad[i], .header_count = 1};
        assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_FAILED);
    }
    static const struct str urls[] = {
        STR_INIT(""),        STR_INIT("file:///etc/passwd"),  STR_INIT("ftp://127.0.0.1/"), STR_INIT("127.0.0.1"),
        STR_INIT("http://"), STR_INIT("http://127.0.0.1/a b")};
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++)
        assert_int_equal(scene_call(scene, (struct http_call){.url = urls[i]}, NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene->server.connections, 0);
}

static void test_bad_calls_are_not_sent(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_bad_calls);
}

static void play_redirects(struct scene *scene)
{
    struct http_answer answer;
    assert_int_equal(scene_get(scene, "/redirect", &answer), HTTP_CALL_OK);
    assert_int_equal(answer.status, 302);
    assert_str_equal(http_answer_header(&answer, STR("Location")), STR("/hello"));

    struct http_call call = {.url = scene_url(scene, "/redirect"), .max_redirects = 1};
    assert_int_equal(scene_call(scene, call, &answer), HTTP_CALL_OK);
    assert_int_equal(answer.status, 200);
    assert_str_equal(answer.body, STR("hello"));
    assert_null(http_answer_header(&answer, STR("Location")).ptr);

    call.method = HTTP_POST;
    assert_int_equal(scene_call(scene, call, &answer), HTTP_CALL_OK);
    assert_int_equal(answer.status, 302);

    call = (struct http_call){.url = scene_url(scene, "/loop"), .max_redirects = 3};
    scene->server.requests = 0;
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene->server.requests, 4);

    call.url = scene_url(scene, "/ftp");
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_FAILED);
}

static void test_redirects_only_when_asked(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_redirects);
}

/* ---- connections ---- */

static void play_reuse(struct scene *scene)
{
    struct http_call post = {.method = HTTP_POST, .url = scene_url(scene, "/hello")};
    for (int i = 0; i < 5; i++)
        assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.connections, 1);
    post.repeatable = true;
    assert_int_equal(scene_call(scene, post, NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.connections, 1);
    post.repeatable = false;
    assert_int_equal(scene_call(scene, post, NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.connections, 2);
}

static void test_connections_are_reused(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_reuse);
}

static void play_repetition(struct scene *scene)
{
    struct http_call post = {.method = HTTP_POST, .url = scene_url(scene, "/drop-later")};
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
    assert_int_equal(scene_call(scene, post, NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.requests, 2); /* on the kept connection it would have been dropped and sent again */
    post.repeatable = true;
    assert_int_equal(scene_call(scene, post, NULL), HTTP_CALL_OK);
    assert_true(scene->server.requests > 3);
}

static void test_only_repeatable_calls_are_sent_twice(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_repetition);
}

static void get_slow(void *argument)
{
    struct scene *scene = argument;
    assert_int_equal(scene_get(scene, "/slow", NULL), HTTP_CALL_OK);
    scene_task_ends(scene);
}

static void play_crowd_at_one_host(struct scene *scene)
{
    scene_start_tasks(scene, 24, get_slow);
    wakeup_wait_done(&scene->all_ended);
    assert_true(scene->server.most_open <= 4);
}

static void test_connections_per_host_are_bounded(void **state)
{
    (void)state;
    /* Waiting for a free connection must not count as connecting: six rounds take 600 ms. */
    struct scene scene = {.options = {.max_connections_per_host = 4, .connect_timeout_ms = 250}};
    scene_run(&scene, play_crowd_at_one_host);
    scene = (struct scene){.options = {.max_connections = 4, .connect_timeout_ms = 250}};
    scene_run(&scene, play_crowd_at_one_host);
}

static void play_busy(struct scene *scene)
{
    scene_start_tasks(scene, 2, get_slow);
    task_sleep(1);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_BUSY);
    wakeup_wait_done(&scene->all_ended);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.requests, 3);
}

static void test_calls_are_bounded(void **state)
{
    (void)state;
    scene_run(&(struct scene){.options = {.max_calls = 2}}, play_busy);
}

int main(void)
{
    log_setup(LOG_OFF, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_bad_calls_are_not_sent),
        cmocka_unit_test(test_redirects_only_when_asked),
        cmocka_unit_test(test_connections_are_reused),
        cmocka_unit_test(test_only_repeatable_calls_are_sent_twice),
        cmocka_unit_test(test_connections_per_host_are_bounded),
        cmocka_unit_test(test_calls_are_bounded),
    };
    return cmocka_run_group_tests_name("http client", tests, NULL, NULL);
}
