#include "base/suggest.h"
#include "test.h"

static const char *nearest(const char *wanted)
{
    static const char *const names[] = {"serve", "migrate", "config", "FCFS_SEATS", "FCFS_SCHEDULE"};
    struct suggest suggest = suggest_for(str_from(wanted));
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        suggest_consider(&suggest, names[i]);
    return suggest.best;
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(nearest("serv"), "serve");
    assert_string_equal(nearest("srever"), "serve");
    assert_string_equal(nearest("esrve"), "serve");
    assert_string_equal(nearest("CONFIG"), "config");
    assert_string_equal(nearest("migrates"), "migrate");
    assert_string_equal(nearest("FCFS_SEAT"), "FCFS_SEATS");
    assert_string_equal(nearest("fcfs_saets"), "FCFS_SEATS");
    assert_null(nearest("bench"));
    assert_null(nearest(""));
    assert_null(nearest("ab"));
    assert_null(nearest("a_name_that_is_longer_than_any_name_a_setting_or_a_command_ever_had"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
