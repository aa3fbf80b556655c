#include "base/clock.h"
#include "base/str.h"
#include "rehearse/arrival.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 200000 };

static int64_t times[MOST];

/* All moments of a curve; they never go back. */
static size_t run(const char *text, uint64_t users, int64_t duration_ns)
{
    struct arrival_curve curve;
    struct buf problem = BUF_INIT(1024);
    size_t count = 0;
    if (!arrival_parse(str_from(text), &curve, &problem))
        fail_msg("%s: %.*s", text, STR_ARG(buf_str(&problem)));
    struct arrivals arrivals = arrivals_start(&curve, users, duration_ns, 7);
    while (arrivals_next(&arrivals, &times[count])) {
        assert_true(count == 0 || times[count] >= times[count - 1]);
        if (++count == MOST)
            fail_msg("%s does not end", text);
    }
    arrival_free(&curve);
    return count;
}

static size_t before(size_t count, double seconds)
{
    size_t found = 0;
    while (found < count && times[found] < (int64_t)(seconds * (double)NS_PER_S))
        found++;
    return found;
}

static void test_spike(void **state)
{
    (void)state;
    assert_int_equal(run("spike 2s", 1000, 0), 1000);
    assert_int_equal(before(1000, 1), 500);
    assert_true(times[999] < 2 * NS_PER_S);
    assert_int_equal(run("spike 300 in 500ms", 0, 0), 300);
    assert_true(times[299] < NS_PER_S / 2);
}

static void test_constant(void **state)
{
    (void)state;
    assert_int_equal(run("constant 100/s for 3s", 0, 0), 300);
    assert_int_equal(times[100], NS_PER_S);
    assert_int_equal(run("constant 100/s", 0, 5 * NS_PER_S), 500);
    assert_int_equal(run("constant 100/s", 42, 5 * NS_PER_S), 42);
    assert_int_equal(run("constant 60/m for 10s", 0, 0), 10);
}

static void test_ramp(void **state)
{
    (void)state;
    size_t count = run("ramp 0/s->1000/s over 10s", 0, 0);
    assert_in_range(count, 4999, 5001);
    assert_in_range(before(count, 5), 1249, 1251); /* a quarter in the first half */
    count = run("ramp 1000/s → 0/s over 10s", 0, 0);
    assert_in_range(count, 4999, 5001);
    assert_in_range(before(count, 5), 3749, 3751);
    assert_int_equal(run("ramp 50/s to 50/s over 2s", 0, 0), 100);
    assert_int_equal(run("ramp 0/s->0/s over 2s", 0, 0), 0);
}

/* As many as expected, give or take four standard deviations; and the gaps are spread as they should be. */
static void test_poisson(void **state)
{
    (void)state;
    size_t count = run("poisson 1000/s for 50s", 0, 0), short_gaps = 0;
    assert_true(fabs((double)count - 50000) < 4 * sqrt(50000));
    for (size_t i = 1; i < count; i++)
        short_gaps += times[i] - times[i - 1] < NS_PER_MS;
    double share = (double)short_gaps / (double)count;
    assert_true(fabs(share - (1 - exp(-1))) < 0.01);
}

static void test_parts_follow_each_other(void **state)
{
    (void)state;
    size_t count = run("constant 10/s for 2s, spike 500 in 1s, constant 100/s", 0, 5 * NS_PER_S);
    assert_int_equal(count, 20 + 500 + 200);
    assert_int_equal(before(count, 2), 20);
    assert_int_equal(before(count, 3), 520);
    assert_int_equal(run("constant 10/s for 2s, spike 1s", 100, 0), 100);
    assert_int_equal(before(100, 2), 20);
}

static void test_threads_see_the_same_moments(void **state)
{
    (void)state;
    struct arrival_curve curve;
    struct buf problem = BUF_INIT(64);
    assert_true(arrival_parse(STR("poisson 500/s for 1s"), &curve, &problem));
    struct arrivals one = arrivals_start(&curve, 0, 0, 99), other = arrivals_start(&curve, 0, 0, 99),
                    another = arrivals_start(&curve, 0, 0, 100);
    int64_t first, second, third;
    size_t same = 0;
    while (arrivals_next(&one, &first)) {
        assert_true(arrivals_next(&other, &second));
        assert_int_equal(first, second);
        same += arrivals_next(&another, &third) && first == third;
    }
    assert_true(same < 5); /* another seed, other moments */
    arrival_free(&curve);
}

static void test_replay(void **state)
{
    (void)state;
    char path[] = "/tmp/replay-XXXXXX", text[64];
    int fd = mkstemp(path);
    static const char lines[] = "# arrivals\n0.5\n\n0.25\r\n2\n";
    assert_true(fd >= 0 && write(fd, lines, sizeof(lines) - 1) == sizeof(lines) - 1);
    close(fd);
    snprintf(text, sizeof(text), "replay %s", path);
    size_t count = run(text, 0, 0);
    assert_int_equal(count, 3);
    assert_int_equal(times[0], NS_PER_S / 4);
    assert_int_equal(times[2], 2 * NS_PER_S);
    FILE *file = fopen(path, "w");
    fputs("0.5\nsoon\n", file);
    fclose(file);
    struct arrival_curve curve;
    struct buf problem = BUF_INIT(256);
    assert_false(arrival_parse(str_from(text), &curve, &problem));
    assert_true(str_contains(buf_str(&problem), STR("line 2")) && str_contains(buf_str(&problem), STR("'soon'")));
    arrival_free(&curve);
    buf_free(&problem);
    unlink(path);
}

static void test_mistakes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *named;
    } rows[] = {
        {"", "spike DURATION"},
        {"spik 2s", "'spik'"},
        {"spike", "a duration like 2s or 500ms at the end"},
        {"spike 2", "'2'"},
        {"spike 2s now", "'now'"},
        {"spike 0 in 1s", "'0'"},
        {"spike many in 1s", "'many'"},
        {"constant", "a rate like 500/s at the end"},
        {"constant 5/h", "'5/h'"},
        {"constant -5/s", "'-5/s'"},
        {"constant 0/s", "above 0"},
        {"constant 5/s 10s", "'10s'"},
        {"constant 5/s for ever", "'ever'"},
        {"poisson 1e3/s", "'1e3/s'"},
        {"ramp 5/s over 3s", "'over'"},
        {"ramp 5/s->x over 3s", "'x'"},
        {"ramp 5/s->6/s", "'over' and a duration at the end"},
        {"ramp 5/s->6/s over 0s", "'0s'"},
        {"constant 5/s, spike 1s", "part 1"},
        {"spike 1s, constant 5/s", "part 1"},
        {"replay", "a file at the end"},
        {"replay /nowhere/at/all", "/nowhere/at/all"},
        {"constant 5/s for 1s,", "spike DURATION"},
        {"constant 99999999/s", "'99999999/s'"},
        {"spike 25h", "'25h'"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arrival_curve curve;
        struct buf problem = BUF_INIT(1024);
        if (arrival_parse(str_from(rows[i].text), &curve, &problem))
            fail_msg("accepted: %s", rows[i].text);
        if (!str_contains(buf_str(&problem), str_from(rows[i].named)))
            fail_msg("%s: %.*s", rows[i].text, STR_ARG(buf_str(&problem)));
        arrival_free(&curve);
        buf_free(&problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spike),
        cmocka_unit_test(test_constant),
        cmocka_unit_test(test_ramp),
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_parts_follow_each_other),
        cmocka_unit_test(test_threads_see_the_same_moments),
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_mistakes_are_named),
    };
    return cmocka_run_group_tests_name("rehearse_arrival", tests, NULL, NULL);
}
