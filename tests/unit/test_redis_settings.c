#include "redis_settings.h"
#include "test.h"

static struct arena arena;
static struct buf problems = BUF_INIT(4096);
static struct coord_settings out;

static bool read_url(const char *url)
{
    struct settings settings = {.redis_url = str_from(url), .redis_port = 6379, .redis_timeout_ms = 800};
    out = (struct coord_settings){0};
    buf_clear(&problems);
    return redis_settings_read(&settings, &arena, &out, &problems);
}

static void test_urls(void **state)
{
    (void)state;
    assert_true(read_url("redis://cache.example"));
    assert_string_equal(out.host, "cache.example");
    assert_int_equal(out.port, 6379);
    assert_int_equal(out.database, 0);
    assert_int_equal(out.timeout_ms, 800);
    assert_null(out.username);
    assert_null(out.password);

    assert_true(read_url("redis://app:p%40ss%2Fword@10.0.0.1:7000/12"));
    assert_string_equal(out.host, "10.0.0.1");
    assert_int_equal(out.port, 7000);
    assert_int_equal(out.database, 12);
    assert_string_equal(out.username, "app");
    assert_string_equal(out.password, "p@ss/word");

    assert_true(read_url("redis://:secret@[::1]:6380/"));
    assert_string_equal(out.host, "::1");
    assert_int_equal(out.port, 6380);
    assert_null(out.username);
    assert_string_equal(out.password, "secret");
    assert_true(read_url("redis://[fe80::1]"));
    assert_string_equal(out.host, "fe80::1");
}

static void test_bad_urls(void **state)
{
    (void)state;
    static const char *const urls[] = {
        "redis:///1",      "redis://:6379",    "redis://h:0",  "redis://h:",     "redis://h:65536",
        "redis://h/x",     "redis://h/1/2",    "redis://[::1", "redis://[::1]x", "redis://u:%zz@h",
        "redis://u:%00@h", "redis://hunter2@", "redis://h/-1",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        if (read_url(urls[i]))
            fail_msg("accepted %s", urls[i]);
        assert_true(str_starts(buf_str(&problems), STR("REDIS_URL must look like")));
        assert_false(str_contains(buf_str(&problems), STR("hunter2")));
    }
}

static void test_host_and_companions(void **state)
{
    (void)state;
    struct settings settings = {.redis_port = 6379};
    assert_true(redis_settings_read(&settings, &arena, &out, &problems));
    assert_null(out.host);

    settings =
        (struct settings){.redis_host = STR("h"), .redis_port = 1, .redis_password = STR("p"), .redis_database = 2};
    assert_true(redis_settings_read(&settings, &arena, &out, &problems));
    assert_string_equal(out.host, "h");
    assert_int_equal(out.port, 1);
    assert_string_equal(out.password, "p");
    assert_int_equal(out.database, 2);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 16);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    buf_free(&problems);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_bad_urls),
        cmocka_unit_test(test_host_and_companions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
