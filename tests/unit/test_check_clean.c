/* No false alarms: what a correct server could have done is accepted, however ambiguous it is. */
#include "base/clock.h"
#include "history/check.h"
#include "history_model.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "clean-XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* Fails, and tells, when anything is found. */
static void expect_clean(const struct model_options *options)
{
    struct arena arena;
    struct str problem;
    struct book book;
    struct tenancies tenancies;
    struct verdict verdict;
    const struct book_options as_recorded = {.map_lag_ms = -1, .duplicate_ttl_ms = -1};
    assert_true(model_run(options, path));
    arena_init(&arena, 1 << 16);
    verdict_init(&verdict);
    assert_true(book_read(&book, path, &as_recorded, &arena, &problem));
    assert_true(tenancies_find(&tenancies, &book));
    check_history(&(struct evidence){.book = &book, .tenancies = &tenancies}, &verdict);
    for (size_t i = 0; i < verdict.count; i++)
        print_error("seed %llu: %s: %.*s\n", (unsigned long long)options->seed,
                    violation_name(verdict.findings[i].kind), STR_ARG(verdict.findings[i].words));
    assert_int_equal(verdict.total, 0);
    assert_int_equal(verdict.undecided_users, 0);
    assert_false(verdict.failed);
    verdict_free(&verdict);
    tenancies_free(&tenancies);
    book_free(&book);
    arena_free(&arena);
}

static void test_every_kind_of_ambiguity(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++)
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
    int64_t before = clock_mono_ns();
    expect_clean(&(struct model_options){
        .seed = 1,
        .operations = 1100000, /* some of which find their user busy */
        .seats = 20000,
        .users = 100000,
        .servers = 1,
        .unanswered_percent = 1,
        .release_percent = 20,
        .read_percent = 10,
        .map_permille = 1,
        .double_click_percent = 100,
    });
    double seconds = (double)(clock_mono_ns() - before) / 1e9;
    print_message("a million operations made and judged in %.1f s\n", seconds);
    assert_true(seconds < 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_ambiguity),
        cmocka_unit_test(test_a_million_operations),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
