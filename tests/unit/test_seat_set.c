/* The set of free seats against a plain array of truths, over sizes around every level's edge. */
#include "services/ticket/seat_set.h"
#include "test.h"

#include <stdlib.h>

static int64_t next_in_array(const bool *members, int64_t capacity, int64_t from)
{
    for (int64_t seat = from < 1 ? 1 : from; seat <= capacity; seat++)
        if (members[seat])
            return seat;
    return 0;
}

static void check_next_everywhere(const struct seat_set *set, const bool *members)
{
    for (int64_t from = -1; from <= set->capacity + 2; from++) {
        int64_t expected = next_in_array(members, set->capacity, from), found = seat_set_next(set, from);
        if (found != expected)
            fail_msg("capacity %lld, from %lld: found %lld, not %lld", (long long)set->capacity, (long long)from,
                     (long long)found, (long long)expected);
    }
}

static void test_new_set_is_empty(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 1, 9, 63, 64, 65, 4096, 4097, 1000000};
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        struct seat_set set;
        assert_true(seat_set_init(&set, capacities[i]));
        assert_int_equal(seat_set_next(&set, 1), 0);
        assert_false(seat_set_has(&set, 1));
        seat_set_free(&set);
    }
}

static void test_fill_makes_all_members_and_no_more(void **state)
{
    (void)state;
    static const int64_t capacities[] = {0, 1, 63, 64, 65, 127, 128, 4095, 4096, 4097, 262144, 262145};
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        int64_t capacity = capacities[i];
        struct seat_set set;
        assert_true(seat_set_init(&set, capacity));
        seat_set_fill(&set);
        int64_t count = 0;
        for (int64_t seat = seat_set_next(&set, 1); seat; seat = seat_set_next(&set, seat + 1))
            assert_int_equal(seat, ++count);
        assert_int_equal(count, capacity);
        assert_false(seat_set_has(&set, 0));
        assert_false(seat_set_has(&set, -5));
        assert_false(seat_set_has(&set, capacity + 1));
        seat_set_free(&set);
    }
}

static void test_random_changes_agree_with_an_array(void **state)
{
    (void)state;
    static const int64_t capacities[] = {1, 2, 63, 64, 65, 130, 4096, 4200};
    srand(20240701);
    for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
        int64_t capacity = capacities[i];
        bool *members = calloc((size_t)capacity + 1, sizeof(*members));
        struct seat_set set;
        assert_true(seat_set_init(&set, capacity));
        for (int step = 0; step < 2000; step++) {
            int64_t seat = rand() % capacity + 1;
            members[seat] = rand() % 2;
            (members[seat] ? seat_set_add : seat_set_remove)(&set, seat);
            assert_int_equal(seat_set_has(&set, seat), members[seat]);
            int64_t from = rand() % (capacity + 2);
            assert_int_equal(seat_set_next(&set, from), next_in_array(members, capacity, from));
        }
        check_next_everywhere(&set, members);
        seat_set_free(&set);
        free(members);
    }
}

/* One member far away: the search must go up all the levels and come down again. */
static void test_lone_member_is_found_from_afar(void **state)
{
    (void)state;
    static const int64_t seats[] = {1, 64, 65, 4096, 4097, 262144, 262145, 999999, 1000000};
    struct seat_set set;
    assert_true(seat_set_init(&set, 1000000));
    for (size_t i = 0; i < sizeof(seats) / sizeof(seats[0]); i++) {
        seat_set_add(&set, seats[i]);
        assert_int_equal(seat_set_next(&set, 1), seats[i]);
        assert_int_equal(seat_set_next(&set, seats[i]), seats[i]);
        assert_int_equal(seat_set_next(&set, seats[i] + 1), 0);
        seat_set_remove(&set, seats[i]);
        assert_int_equal(seat_set_next(&set, 1), 0);
    }
    seat_set_free(&set);
}

static void test_adding_and_removing_twice_changes_nothing(void **state)
{
    (void)state;
    struct seat_set set;
    assert_true(seat_set_init(&set, 100));
    seat_set_add(&set, 70);
    seat_set_add(&set, 70);
    assert_int_equal(seat_set_next(&set, 1), 70);
    seat_set_remove(&set, 70);
    seat_set_remove(&set, 70);
    assert_int_equal(seat_set_next(&set, 1), 0);
    seat_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_set_is_empty),
        cmocka_unit_test(test_fill_makes_all_members_and_no_more),
        cmocka_unit_test(test_random_changes_agree_with_an_array),
        cmocka_unit_test(test_lone_member_is_found_from_afar),
        cmocka_unit_test(test_adding_and_removing_twice_changes_nothing),
    };
    return cmocka_run_group_tests_name("seat_set", tests, NULL, NULL);
}
