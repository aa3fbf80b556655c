#include "base/histogram.h"
#include "base/random.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 200000 };

static const double shares[] = {0, 0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};
enum { SHARES = sizeof(shares) / sizeof(shares[0]) };

static int compare(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static uint64_t exact(const uint64_t *sorted, size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count);
    return sorted[rank ? rank - 1 : 0];
}

/* From nanoseconds to hours, every size as likely as every other. */
static uint64_t any_duration(void)
{
    return random_below(UINT64_C(1) << (1 + random_below(43)));
}

static void assert_near_exact(const struct histogram *histogram, uint64_t *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    for (size_t i = 0; i < SHARES; i++) {
        double wanted = (double)exact(values, count, shares[i]);
        double found = (double)histogram_percentile(histogram, shares[i]);
        if (fabs(found - wanted) > wanted * 0.01)
            fail_msg("%.4f: %.0f instead of %.0f", shares[i], found, wanted);
    }
    assert_int_equal(histogram->max, values[count - 1]);
    assert_int_equal(histogram->min, values[0]);
    assert_int_equal(histogram->count, count);
}

static void test_percentiles_are_within_one_percent(void **state)
{
    (void)state;
    static struct histogram histogram;
    uint64_t *values = calloc(VALUES, sizeof(*values));
    assert_non_null(values);
    histogram_clear(&histogram);
    double sum = 0;
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = any_duration();
        sum += (double)values[i];
        histogram_add(&histogram, values[i]);
    }
    assert_near_exact(&histogram, values, VALUES);
    assert_true(fabs(histogram_mean(&histogram) - sum / VALUES) < sum / VALUES * 1e-9);
    free(values);
}

static void test_small_values_are_exact(void **state)
{
    (void)state;
    static struct histogram histogram;
    histogram_clear(&histogram);
    assert_int_equal(histogram_percentile(&histogram, 0.99), 0);
    for (uint64_t value = 0; value < 256; value++)
        histogram_add(&histogram, value);
    for (uint64_t value = 0; value < 256; value++)
        assert_int_equal(histogram_percentile(&histogram, (double)(value + 1) / 256), value);
}

static void test_parts_add_up(void **state)
{
    (void)state;
    static struct histogram parts[3], whole, merged;
    histogram_clear(&whole);
    histogram_clear(&merged);
    for (size_t i = 0; i < 3; i++)
        histogram_clear(&parts[i]);
    for (size_t i = 0; i < 30000; i++) {
        uint64_t value = any_duration();
        histogram_add(&parts[i % 3], value);
        histogram_add(&whole, value);
    }
    for (size_t i = 0; i < 3; i++)
        histogram_merge(&merged, &parts[i]);
    assert_memory_equal(&merged, &whole, sizeof(whole));
}

static void test_what_came_since(void **state)
{
    (void)state;
    static struct histogram now, before, since;
    uint64_t values[1000];
    histogram_clear(&now);
    for (size_t i = 0; i < 1000; i++)
        histogram_add(&now, 5000 + i);
    before = now;
    for (size_t i = 0; i < 1000; i++)
        histogram_add(&now, values[i] = 1000000 + 1000 * i);
    histogram_since(&now, &before, &since);
    assert_int_equal(since.count, 1000);
    for (size_t i = 0; i < SHARES; i++) {
        double wanted = (double)exact(values, 1000, shares[i]);
        assert_true(fabs((double)histogram_percentile(&since, shares[i]) - wanted) <= wanted * 0.01);
    }
    histogram_since(&now, &now, &since);
    assert_int_equal(since.count, 0);
    assert_int_equal(histogram_percentile(&since, 0.5), 0);
}

static void test_values_beyond_the_largest(void **state)
{
    (void)state;
    static struct histogram histogram;
    histogram_clear(&histogram);
    histogram_add(&histogram, UINT64_MAX);
    histogram_add(&histogram, 1);
    assert_int_equal(histogram_percentile(&histogram, 1), UINT64_MAX);
    assert_int_equal(histogram_percentile(&histogram, 0.5), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles_are_within_one_percent),
        cmocka_unit_test(test_small_values_are_exact),
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_what_came_since),
        cmocka_unit_test(test_values_beyond_the_largest),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
