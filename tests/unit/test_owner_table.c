/* Who has which seat, against a plain array; owners are chosen so that their slots collide and wrap around. */
#include "services/ticket/owner_table.h"
#include "test.h"

#include <stdlib.h>

static bool array_has(const uint64_t *owners, int64_t seats, uint64_t owner)
{
    for (int64_t seat = 1; seat <= seats; seat++)
        if (owners[seat] == owner)
            return true;
    return false;
}

static void test_empty_table_has_nobody(void **state)
{
    (void)state;
    struct owner_table table;
    assert_true(owner_table_init(&table, 0));
    assert_false(owner_table_has(&table, 1));
    owner_table_free(&table);
    assert_true(owner_table_init(&table, 9));
    for (int64_t seat = 1; seat <= 9; seat++)
        assert_int_equal(owner_table_owner(&table, seat), 0);
    assert_false(owner_table_has(&table, UINT64_MAX));
    owner_table_free(&table);
}

/* With 8 seats the table has 16 slots: 15, 31, 47 … all want the last one and go on at the first. */
static void test_holes_close_across_the_end_of_the_table(void **state)
{
    (void)state;
    struct owner_table table;
    assert_true(owner_table_init(&table, 8));
    static const uint64_t owners[] = {15, 31, 47, 16, 63, 1, 79, 14};
    for (int64_t seat = 1; seat <= 8; seat++)
        owner_table_add(&table, seat, owners[seat - 1]);
    for (int64_t gone = 1; gone <= 8; gone++) {
        owner_table_remove(&table, gone);
        assert_int_equal(owner_table_owner(&table, gone), 0);
        for (int64_t seat = 1; seat <= 8; seat++)
            if (owner_table_has(&table, owners[seat - 1]) != (seat > gone))
                fail_msg("after seat %lld was given back, the owner of seat %lld is %s", (long long)gone,
                         (long long)seat, seat > gone ? "lost" : "still there");
    }
    owner_table_free(&table);
}

/* Two users with one hash each have a seat; one gives it back, the other is still known. */
static void test_two_owners_with_the_same_hash(void **state)
{
    (void)state;
    struct owner_table table;
    assert_true(owner_table_init(&table, 4));
    owner_table_add(&table, 1, 77);
    owner_table_add(&table, 3, 77);
    owner_table_remove(&table, 1);
    assert_true(owner_table_has(&table, 77));
    assert_int_equal(owner_table_owner(&table, 3), 77);
    owner_table_remove(&table, 3);
    assert_false(owner_table_has(&table, 77));
    owner_table_free(&table);
}

static void test_random_changes_agree_with_an_array(void **state)
{
    (void)state;
    enum { SEATS = 100, OWNERS = 60 };
    uint64_t owners[SEATS + 1] = {0};
    struct owner_table table;
    assert_true(owner_table_init(&table, SEATS));
    srand(20240702);
    for (int step = 0; step < 50000; step++) {
        int64_t seat = rand() % SEATS + 1;
        uint64_t owner = (uint64_t)(rand() % OWNERS) * 64 + (uint64_t)(rand() % 3) + 1; /* few homes, many owners */
        if (owners[seat]) {
            owner_table_remove(&table, seat);
            owners[seat] = 0;
        } else {
            owner_table_add(&table, seat, owner);
            owners[seat] = owner;
        }
        assert_int_equal(owner_table_owner(&table, seat), owners[seat]);
        assert_int_equal(owner_table_has(&table, owner), array_has(owners, SEATS, owner));
    }
    owner_table_free(&table);
}

static void test_full_house_and_back(void **state)
{
    (void)state;
    enum { SEATS = 5000 };
    struct owner_table table;
    assert_true(owner_table_init(&table, SEATS));
    for (int64_t seat = 1; seat <= SEATS; seat++)
        owner_table_add(&table, seat, (uint64_t)seat * UINT64_C(0x9e3779b97f4a7c15));
    for (int64_t seat = 1; seat <= SEATS; seat++)
        assert_true(owner_table_has(&table, (uint64_t)seat * UINT64_C(0x9e3779b97f4a7c15)));
    assert_false(owner_table_has(&table, 12345));
    for (int64_t seat = SEATS; seat >= 1; seat--)
        owner_table_remove(&table, seat);
    for (size_t slot = 0; slot <= table.mask; slot++)
        assert_int_equal(table.slots[slot], 0);
    owner_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_table_has_nobody),
        cmocka_unit_test(test_holes_close_across_the_end_of_the_table),
        cmocka_unit_test(test_two_owners_with_the_same_hash),
        cmocka_unit_test(test_random_changes_agree_with_an_array),
        cmocka_unit_test(test_full_house_and_back),
    };
    return cmocka_run_group_tests_name("owner_table", tests, NULL, NULL);
}
