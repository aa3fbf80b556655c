#include "tables/metrics.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct buf out = BUF_INIT(1 << 20);

static struct str scrape(void)
{
    buf_clear(&out);
    metrics_render(&out);
    assert_false(out.failed);
    return buf_str(&out);
}

static void assert_line(const char *line)
{
    struct str text = scrape();
    if (!str_contains(text, str_from(line)))
        fail_msg("no line %s in\n%.*s", line, STR_ARG(text));
}

enum { THREADS = 8, COUNTS = 10000 };

static void *count(void *argument)
{
    (void)argument;
    for (int i = 0; i < COUNTS; i++) {
        metric_add(METRIC_HTTP_REQUESTS, 1, 3, 1);
        metric_observe(METRIC_HTTP_REQUEST_DURATION, 3 * INT64_C(1000000), 3);
    }
    return NULL;
}

/* Twice the threads one after the other, so that shards are handed on and nothing is lost with a thread. */
static void test_threads_add_up(void **state)
{
    (void)state;
    metrics_name_route(3, STR("GET"), STR("/seats/{id}"));
    for (int round = 0; round < 2; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
        scrape();
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    assert_line("\nhttp_requests_total{method=\"GET\",route=\"/seats/{id}\",status=\"2xx\"} 160000\n");
    assert_line("_bucket{method=\"GET\",route=\"/seats/{id}\",le=\"0.0025\"} 0\n");
    assert_line("_bucket{method=\"GET\",route=\"/seats/{id}\",le=\"0.005\"} 160000\n");
    assert_line("_bucket{method=\"GET\",route=\"/seats/{id}\",le=\"+Inf\"} 160000\n");
    assert_line("_sum{method=\"GET\",route=\"/seats/{id}\"} 480\n");
    assert_line("_count{method=\"GET\",route=\"/seats/{id}\"} 160000\n");
}

static void test_bucket_bounds(void **state)
{
    (void)state;
    metrics_name_route(4, STR("PUT"), STR("/bounds"));
    metric_observe(METRIC_HTTP_REQUEST_DURATION, 0, 4);
    metric_observe(METRIC_HTTP_REQUEST_DURATION, 500000, 4);
    metric_observe(METRIC_HTTP_REQUEST_DURATION, 500001, 4);
    metric_observe(METRIC_HTTP_REQUEST_DURATION, INT64_C(11000000000), 4);
    assert_line("{method=\"PUT\",route=\"/bounds\",le=\"0.0005\"} 2\n");
    assert_line("{method=\"PUT\",route=\"/bounds\",le=\"0.001\"} 3\n");
    assert_line("{method=\"PUT\",route=\"/bounds\",le=\"10\"} 3\n");
    assert_line("{method=\"PUT\",route=\"/bounds\",le=\"+Inf\"} 4\n");
}

static void test_labels_without_a_place_share_the_last(void **state)
{
    (void)state;
    metric_add(METRIC_HTTP_REQUESTS, 2, METRIC_ROUTES + 10, 3);
    metric_add(METRIC_HTTP_REQUESTS, 3, METRIC_ROUTES - 1, 3);
    assert_line("http_requests_total{method=\"none\",route=\"none\",status=\"4xx\"} 5\n");
}

static double read_connections(void *context, size_t label)
{
    assert_int_equal(label, 0);
    return *(double *)context;
}

static void test_watched(void **state)
{
    (void)state;
    assert_false(str_contains(scrape(), STR("\nhttp_connections ")));
    double connections = 12345678;
    metrics_watch(METRIC_HTTP_CONNECTIONS, read_connections, &connections);
    assert_line("\nhttp_connections 12345678\n");
    metrics_watch(METRIC_HTTP_CONNECTIONS, NULL, NULL);
    assert_false(str_contains(scrape(), STR("\nhttp_connections ")));
}

static void test_process(void **state)
{
    (void)state;
    assert_line("tickettock_build_info{version=\"" TICKETTOCK_VERSION "\"} 1\n");
    struct str text = scrape();
    static const char *const names[] = {"\nprocess_resident_memory_bytes ", "\nprocess_open_fds ",
                                        "\nprocess_start_time_seconds ", "\nprocess_max_fds "};
    for (size_t i = 0; i < 4; i++) {
        const char *at = memmem(text.ptr, text.len, names[i], strlen(names[i]));
        assert_non_null(at);
        assert_true(atof(at + strlen(names[i])) >= 3);
    }
}

static void test_promtool_accepts_it(void **state)
{
    (void)state;
    if (system("command -v promtool >/dev/null 2>&1") != 0)
        skip();
    struct str text = scrape();
    FILE *promtool = popen("promtool check metrics", "w");
    assert_non_null(promtool);
    assert_int_equal(fwrite(text.ptr, 1, text.len, promtool), text.len);
    assert_int_equal(pclose(promtool), 0);
}

static int free_out(void **state)
{
    (void)state;
    buf_free(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_add_up),
        cmocka_unit_test(test_bucket_bounds),
        cmocka_unit_test(test_labels_without_a_place_share_the_last),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_process),
        cmocka_unit_test(test_promtool_accepts_it),
    };
    return cmocka_run_group_tests(tests, NULL, free_out);
}
