/* Servers with one mistake each: the checker must name it, whatever else it finds; and nothing without the mistake. */
#include "check_support.h"
#include "history_model.h"
#include "test.h"

#include <stdio.h>

static const struct {
    enum model_bug bug;
    enum violation expected;
    const char *name;
} bugs[] = {
    {BUG_NO_STATUS_GUARD, VIOLATION_TWO_OWNERS, "no status guard"},
    {BUG_ANSWER_BEFORE_COMMIT, VIOLATION_LOST_CLAIM, "answer before commit"},
    {BUG_LOST_UPDATE, VIOLATION_TWO_OWNERS, "lost update: the seat is given again"},
    {BUG_LOST_UPDATE, VIOLATION_LOST_CLAIM, "lost update: the user finds out"},
    {BUG_RESURRECTED_SEAT, VIOLATION_RESURRECTED, "resurrected seat"},
    {BUG_SEAT_OUT_OF_ORDER, VIOLATION_SEAT_ORDER, "seat out of order"},
    {BUG_SECOND_SEAT, VIOLATION_DOUBLE_CLAIM, "double claim by one user"},
    {BUG_LOCK_NEVER_RELEASED, VIOLATION_FALSE_DUPLICATE, "duplicate lock never released"},
    {BUG_STALE_MAP, VIOLATION_STALE_MAP, "stale map"},
    {BUG_MAP_BACKWARDS, VIOLATION_MAP_BACKWARDS, "map backwards"},
    {BUG_PHANTOM_SOLD_OUT, VIOLATION_FALSE_SOLD_OUT, "phantom sold out"},
    {BUG_SEQUENCE_TWICE, VIOLATION_SEQUENCE_TWICE, "sequence given twice"},
    {BUG_SEQUENCE_BACKWARDS, VIOLATION_SEQUENCE_BACKWARDS, "sequence in blocks"},
    {BUG_WRONG_COUNT, VIOLATION_WRONG_COUNT, "sold + free is not the house"},
    {BUG_ANOTHER_USERS_SEAT, VIOLATION_WRONG_SEAT, "another user's seat"},
    {BUG_SEAT_PAST_THE_END, VIOLATION_NO_SUCH_SEAT, "seat past the end"},
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* which make everything many times slower */
enum { SEEDS = 1 };
#else
enum { SEEDS = 5 };
#endif

static struct model_options options_of(uint64_t seed, enum model_bug bug, int unanswered_percent)
{
    return (struct model_options){
        .seed = seed,
        .operations = 5000,
        .seats = 50,
        .users = 60,
        .servers = bug == BUG_SEQUENCE_BACKWARDS ? 3 : 1,
        .unanswered_percent = unanswered_percent,
        .release_percent = 30,
        .read_percent = 20,
        .map_permille = 30,
        .double_click_percent = 20,
        .bug = bug,
    };
}

static void expect_found(size_t i, int unanswered_percent)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct model_options options = options_of(seed, bugs[i].bug, unanswered_percent);
        struct verdict verdict;
        assert_true(model_run(&options, check_path));
        check_file(&verdict);
        if (!verdict.counts[bugs[i].expected])
            fail_msg("%s: seed %llu is not called %s", bugs[i].name, (unsigned long long)seed,
                     violation_name(bugs[i].expected));
        verdict_free(&verdict);

        options.bug = BUG_NONE;
        assert_true(model_run(&options, check_path));
        check_file(&verdict);
        assert_int_equal(verdict.total, 0);
        verdict_free(&verdict);
    }
}

static void test_every_bug_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++)
        expect_found(i, 0);
}

/* Requests without an answer are an excuse for a while, not for ever. */
static void test_also_among_lost_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bugs) / sizeof(bugs[0]); i++)
        expect_found(i, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bug_is_named),
        cmocka_unit_test(test_also_among_lost_answers),
    };
    return cmocka_run_group_tests(tests, check_make_path, check_remove_path);
}
