#include "base/clock.h"
#include "base/log.h"
#include "client_scene.h"
#include "test.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* libcurl asks here instead of the C library's: nobody has a name, and one is slow to find that out. */
static atomic_int lookups;
__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **found)
{
    (void)service;
    (void)hints;
    (void)found;
    atomic_fetch_add(&lookups, 1);
    if (strcmp(name, "slow.test") == 0)
        usleep(700000);
    atomic_fetch_sub(&lookups, 1);
    return EAI_NONAME;
}

static enum http_call_outcome get_within(struct scene *scene, const char *path, int64_t timeout_ms, int64_t *took_ms)
{
    int64_t before = clock_mono_ns();
    enum http_call_outcome outcome =
        scene_call(scene, (struct http_call){.url = scene_url(scene, path), .timeout_ms = timeout_ms}, NULL);
    *took_ms = (clock_mono_ns() - before) / NS_PER_MS;
    return outcome;
}

static void play_sizes(struct scene *scene)
{
    struct http_call call = {.url = scene_url(scene, "/large"), .max_answer = 100000};
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_OK);
    call.max_answer = 99999;
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_TOO_LARGE);
    assert_int_equal(scene_get(scene, "/flood", NULL), HTTP_CALL_TOO_LARGE);
    assert_int_equal(scene_get(scene, "/headers", NULL), HTTP_CALL_TOO_LARGE);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
}

static void test_answers_are_bounded(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_sizes);
}

static void play_broken(struct scene *scene)
{
    assert_int_equal(scene_get(scene, "/drop", NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene_get(scene, "/cut", NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene_get(scene, "/garbage", NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
}

static void test_broken_answers(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_broken);
}

static void play_deadlines(struct scene *scene)
{
    int64_t took;
    assert_int_equal(get_within(scene, "/never", 60, &took), HTTP_CALL_DEADLINE);
    assert_in_range(took, 60, 400);
    task_set_deadline(clock_mono_ns() + 60 * NS_PER_MS);
    assert_int_equal(get_within(scene, "/never", 5000, &took), HTTP_CALL_DEADLINE);
    assert_in_range(took, 50, 400);
    assert_int_equal(scene->server.requests, 2);
    assert_int_equal(get_within(scene, "/hello", 5000, &took), HTTP_CALL_DEADLINE); /* it has passed: nothing is sent */
    task_set_deadline(0);
    task_sleep(50);
    assert_int_equal(scene->server.requests, 2);
    assert_int_equal(scene->server.open, 0);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
}

static void test_deadlines(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_deadlines);
}

static void play_unreachable(struct scene *scene)
{
    int64_t before = clock_mono_ns();
    struct http_call call = {.url = arena_format(&scene->arena, "http://127.0.0.1:%d/", test_server_unused_port())};
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_UNREACHABLE);
    call.url = STR("http://nobody.test/");
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_UNREACHABLE);
    call.url = STR("http://slow.test/");
    call.timeout_ms = 50;
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_DEADLINE);
    call.timeout_ms = 5000; /* the client's connect timeout comes first */
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_UNREACHABLE);
    assert_true(clock_mono_ns() - before < 600 * NS_PER_MS); /* nothing has waited for the slow lookups */
}

static void test_unreachable(void **state)
{
    (void)state;
    scene_run(&(struct scene){.options = {.connect_timeout_ms = 100}}, play_unreachable);
    while (atomic_load(&lookups))
        usleep(1000);
    usleep(20000); /* libcurl's detached threads free what they have */
}

struct jump {
    jmp_buf to;
    bool happened;
};

static void jump_out(void *context)
{
    struct jump *jump = context;
    jump->happened = true;
    longjmp(jump->to, 1);
}

static void play_small_arena(struct scene *scene)
{
    struct jump jump = {.happened = false};
    struct arena small;
    arena_init(&small, 8192);
    small.exhausted = jump_out;
    small.context = &jump;
    struct http_call call = {.url = scene_url(scene, "/large"), .max_answer = 1 << 20};
    struct http_answer answer;
    if (setjmp(jump.to) == 0)
        assert_int_equal(http_call(scene->client, &call, &small, &answer), HTTP_CALL_OK);
    assert_true(jump.happened);
    arena_free(&small);
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
}

static void test_an_exhausted_arena_loses_nothing(void **state)
{
    (void)state;
    scene_run(&(struct scene){0}, play_small_arena);
}

/* ---- TLS and proxies ---- */

/* Certificates are kept in memory, so that nothing remains however the test ends. */
static struct {
    char own[32], other[32];
} files;

static void play_trusted(struct scene *scene)
{
    struct http_answer answer;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(scene_get(scene, "/hello", &answer), HTTP_CALL_OK);
        assert_str_equal(answer.body, STR("hello"));
    }
    assert_int_equal(scene->server.connections, 1);
    struct str other_name = arena_format(&scene->arena, "https://localhost:%d/hello", scene->server.port);
    assert_int_equal(scene_call(scene, (struct http_call){.url = other_name}, NULL), HTTP_CALL_UNREACHABLE);
    struct http_call to_plain = {.url = scene_url(scene, "/plain"), .max_redirects = 1};
    assert_int_equal(scene_call(scene, to_plain, NULL), HTTP_CALL_FAILED);
    assert_int_equal(scene_get(scene, "/drop", NULL), HTTP_CALL_FAILED);
}

static void play_untrusted(struct scene *scene)
{
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_UNREACHABLE);
    assert_int_equal(scene->server.requests, 0);
}

static void test_certificates_are_verified(void **state)
{
    (void)state;
    struct test_server other;
    test_server_start(&other, files.other);
    test_server_stop(&other);
    scene_run(&(struct scene){.certificate = files.own, .options = {.ca_file = files.own}}, play_trusted);
    scene_run(&(struct scene){.certificate = files.own, .options = {.ca_file = files.other}}, play_untrusted);
    scene_run(&(struct scene){.certificate = files.own}, play_untrusted);
}

static void play_hello(struct scene *scene)
{
    assert_int_equal(scene_get(scene, "/hello", NULL), HTTP_CALL_OK);
}

static void play_elsewhere(struct scene *scene)
{
    struct http_call call = {.url = STR("http://nobody.test/hello")};
    assert_int_equal(scene_call(scene, call, NULL), HTTP_CALL_OK);
    assert_int_equal(scene->server.requests, 0);
}

static void test_proxy_only_when_configured(void **state)
{
    (void)state;
    struct test_server proxy;
    char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", test_server_unused_port());
    setenv("http_proxy", url, 1);
    scene_run(&(struct scene){0}, play_hello);
    test_server_start(&proxy, NULL);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", proxy.port);
    setenv("no_proxy", "*", 1);
    scene_run(&(struct scene){.options = {.proxy = url}}, play_elsewhere);
    assert_int_equal(proxy.requests, 1);
    test_server_stop(&proxy);
}

/* ---- many at once ---- */

enum { CROWD_LOOPS = 2, CROWD_CALLS = 250 };

/* Each loop has a scene of its own; they share the client and the server. */
struct crowd {
    struct http_client *client;
    struct test_server *server;
    void (*fn)(void *scene);
    atomic_int outcomes[HTTP_CALL_FAILED + 1];
};
static struct crowd crowd;

static void count_call(struct scene *scene, struct http_call call)
{
    struct arena arena;
    arena_init(&arena, 1 << 20);
    call.url = arena_format(&arena, "http://127.0.0.1:%d%s", crowd.server->port, call.url.ptr);
    call.max_answer = 1000;
    struct http_answer answer;
    enum http_call_outcome outcome = http_call(crowd.client, &call, &arena, &answer);
    if (outcome == HTTP_CALL_OK)
        assert_str_equal(answer.body, STR("hello"));
    atomic_fetch_add(&crowd.outcomes[outcome], 1);
    arena_free(&arena);
    scene_task_ends(scene);
}

static void call_in_crowd(void *scene)
{
    count_call(scene, (struct http_call){.url = STR("/hello")});
}

/* Deadlines fall into every phase of a call: connecting, sending, waiting, receiving. */
static void call_in_haste(void *argument)
{
    static const struct str paths[] = {STR_INIT("/hello"), STR_INIT("/never"), STR_INIT("/drop"), STR_INIT("/chunked"),
                                       STR_INIT("/flood")};
    struct scene *scene = argument;
    int i = scene->begun++;
    task_sleep(i % 50);
    count_call(scene, (struct http_call){.url = paths[i % 5], .timeout_ms = 1 + i % 23});
}

static void play_crowd(struct scene *scene)
{
    scene_start_tasks(scene, CROWD_CALLS, crowd.fn);
    wakeup_wait_done(&scene->all_ended);
}

static void *run_crowd_loop(void *argument)
{
    (void)argument;
    struct scene scene = {.client = crowd.client, .play = play_crowd, .start.deliver = scene_start};
    struct loop *loop = loop_create(CROWD_CALLS + 1);
    loop_post(loop, &scene.start);
    loop_run(loop);
    loop_destroy(loop);
    return NULL;
}

static void run_crowd(void (*fn)(void *))
{
    struct test_server server;
    struct http_client_options options = {.max_connections_per_host = 16};
    test_server_start(&server, NULL);
    crowd = (struct crowd){.client = http_client_create(&options), .server = &server, .fn = fn};
    pthread_t threads[CROWD_LOOPS];
    int64_t before = clock_mono_ns();
    for (int i = 0; i < CROWD_LOOPS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_crowd_loop, NULL), 0);
    for (int i = 0; i < CROWD_LOOPS; i++)
        pthread_join(threads[i], NULL);
    print_message("%d calls on %d loops: %d ms, %d connections\n", CROWD_LOOPS * CROWD_CALLS, CROWD_LOOPS,
                  (int)((clock_mono_ns() - before) / NS_PER_MS), server.connections);
    http_client_free(crowd.client);
    test_server_stop(&server);
    assert_true(server.most_open <= CROWD_LOOPS * 16 || fn == call_in_haste); /* the server sees late that one closed */
}

static void test_many_calls_on_two_loops(void **state)
{
    (void)state;
    run_crowd(call_in_crowd);
    assert_int_equal(crowd.outcomes[HTTP_CALL_OK], CROWD_LOOPS * CROWD_CALLS);
}

static void test_many_calls_in_haste(void **state)
{
    (void)state;
    run_crowd(call_in_haste);
    int ended = 0;
    for (int i = 0; i <= HTTP_CALL_FAILED; i++)
        ended += crowd.outcomes[i];
    assert_int_equal(ended, CROWD_LOOPS * CROWD_CALLS);
    assert_int_equal(crowd.outcomes[HTTP_CALL_BUSY] + crowd.outcomes[HTTP_CALL_UNREACHABLE], 0);
    assert_true(crowd.outcomes[HTTP_CALL_DEADLINE] >= CROWD_LOOPS * CROWD_CALLS / 5);
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_OFF, LOG_TEXT);
    snprintf(files.own, sizeof(files.own), "/proc/self/fd/%d", memfd_create("own", MFD_CLOEXEC));
    snprintf(files.other, sizeof(files.other), "/proc/self/fd/%d", memfd_create("other", MFD_CLOEXEC));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_bounded),
        cmocka_unit_test(test_broken_answers),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_an_exhausted_arena_loses_nothing),
        cmocka_unit_test(test_certificates_are_verified),
        cmocka_unit_test(test_proxy_only_when_configured),
        cmocka_unit_test(test_many_calls_on_two_loops),
        cmocka_unit_test(test_many_calls_in_haste),
    };
    return cmocka_run_group_tests_name("http client faults", tests, set_up, NULL);
}
