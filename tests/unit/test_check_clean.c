/* No false alarms: what a correct server could have done is accepted, however ambiguous it is. */
#include "check_support.h"
#include "history_model.h"
#include "test.h"

#include <time.h>

/* Fails, and tells, when anything is found. Gives the seconds that judging took a processor: the machine may be busy
 * with other tests. */
static double expect_clean(const struct model_options *options)
{
    struct verdict verdict;
    assert_true(model_run(options, check_path));
    clock_t before = clock();
    check_file(&verdict);
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    for (size_t i = 0; i < verdict.count; i++)
        print_error("seed %llu: %s: %.*s\n", (unsigned long long)options->seed,
                    violation_name(verdict.findings[i].kind), STR_ARG(verdict.findings[i].words));
    assert_int_equal(verdict.total, 0);
    assert_int_equal(verdict.undecided_users, 0);
    verdict_free(&verdict);
    return seconds;
}

/* Sanitizers make everything many times slower; the figure is for the normal build. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MANY = 50000, SEEDS = 40 };
#else
enum { MANY = 1000000, SEEDS = 300 };
#endif

static void test_every_kind_of_ambiguity(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        expect_clean(&(struct model_options){
            .seed = seed,
            .operations = 1500,
            .seats = 1 + (int64_t)(seed * 7 % 40),
            .users = 2 + (int64_t)(seed * 13 % 60),
            .servers = 1 + (int64_t)(seed % 3),
            .unanswered_percent = (int)(seed % 5) * 10,
            .release_percent = (int)(seed % 4) * 15,
            .read_percent = 20,
            .map_permille = 50,
            .double_click_percent = 50,
            .some_taken = seed % 7 == 0,
            .start_unknown = seed % 11 == 0,
        });
}

static void test_a_million_operations(void **state)
{
    (void)state;
    double seconds = expect_clean(&(struct model_options){
        .seed = 1,
        .operations = MANY,
        .seats = 20000,
        .users = 100000,
        .servers = 1,
        .unanswered_percent = 1,
        .release_percent = 20,
        .read_percent = 10,
        .map_permille = 1,
        .double_click_percent = 100,
    });
    print_message("%d operations judged in %.1f s\n", MANY, seconds);
    assert_true(seconds < 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_ambiguity),
        cmocka_unit_test(test_a_million_operations),
    };
    return cmocka_run_group_tests(tests, check_make_path, check_remove_path);
}
