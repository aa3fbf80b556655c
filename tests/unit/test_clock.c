#include "base/clock.h"
#include "test.h"

static void test_clocks_move_on(void **state)
{
    (void)state;
    int64_t mono = clock_mono_ns(), wall = clock_wall_ms();
    assert_true(wall > INT64_C(1700000000000));
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_mono_ns();
        assert_true(now >= mono);
        mono = now;
    }
    clock_move(3600 * MS_PER_S);
    assert_in_range(clock_mono_ns() - mono, 3600 * NS_PER_S, 3660 * NS_PER_S);
    assert_in_range(clock_wall_ms() - wall, 3600 * MS_PER_S, 3660 * MS_PER_S);
    clock_move(-3600 * MS_PER_S);
    assert_true(clock_wall_ms() - wall < 60 * MS_PER_S);
}

static const struct {
    const char *text, *http;
    int64_t ms;
} times[] = {
    {"1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT", 0},
    {"2000-02-29T23:59:59.999Z", "Tue, 29 Feb 2000 23:59:59 GMT", INT64_C(951868799999)},
    {"2026-11-15T20:13:00.123Z", "Sun, 15 Nov 2026 20:13:00 GMT", INT64_C(1794773580123)},
    {"2100-03-01T00:00:00.001Z", "Mon, 01 Mar 2100 00:00:00 GMT", INT64_C(4107542400001)},
    {"9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT", INT64_C(253402300799999)},
};

static void test_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        char text[CLOCK_RFC3339_SIZE], http[CLOCK_HTTP_SIZE];
        clock_format_rfc3339(times[i].ms, text);
        assert_string_equal(text, times[i].text);
        clock_format_http(times[i].ms, http);
        assert_string_equal(http, times[i].http);
        int64_t ms = -1;
        assert_true(clock_parse_rfc3339(str_from(times[i].text), &ms));
        assert_true(ms == times[i].ms);
    }
    int64_t ms;
    assert_true(clock_parse_rfc3339(STR("2026-11-15T20:13:00Z"), &ms) && ms == INT64_C(1794773580000));
}

static void test_what_is_no_time(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-11-15",
        "2026-11-15T20:13:00",
        "2026-11-15T20:13:00+00:00",
        "2026-11-15 20:13:00Z",
        "2026-11-15t20:13:00z",
        "2026-11-15T20:13:00.12Z",
        "2026-11-15T20:13:00.1234Z",
        "2026-11-15T20:13:00,123Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T-1:00:00Z",
        "2026-01-01T 1:00:00Z",
        "+026-01-01T00:00:00Z",
        "-026-01-01T00:00:00Z",
        "2026-1-01T000:00:00Z",
        "2026/01/01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ms;
        if (clock_parse_rfc3339(str_from(bad[i]), &ms))
            fail_msg("accepted '%s'", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_move_on),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_what_is_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
