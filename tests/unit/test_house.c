/* The house in memory: changes in order, gaps, catching up, the ring of recent changes, new houses, many threads. */
#include "services/ticket/house.h"
#include "services/ticket/office.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SEATS = 9, RING = 8192 };

/* As read from the database in a moment when nothing else happened. */
static bool load(struct house *house, int64_t generation, int64_t version, int64_t seats,
                 const struct house_seat *taken, size_t count)
{
    struct house_state before = house_state(house);
    return house_load(house, &before, &(struct house_picture){generation, version, seats, taken, count});
}

static void catch_up(struct house *house, int64_t version, const struct house_seat *changes, size_t count)
{
    struct house_state before = house_state(house);
    house_catch_up(house, &before, version, changes, count);
}

static struct house *house_of(int64_t seats)
{
    struct house *house = house_create();
    assert_non_null(house);
    assert_true(load(house, 1, 0, seats, NULL, 0));
    return house;
}

static bool apply_one(struct house *house, int64_t version, int64_t seat, uint64_t owner)
{
    return house_apply(house, 1, version, &(struct house_seat){seat, owner}, 1);
}

static void test_new_house_is_not_trusted(void **state)
{
    (void)state;
    struct house *house = house_create();
    assert_false(house_state(house).trusted);
    assert_int_equal(house_next_free(house, 1), 0);
    assert_false(house_has_owner(house, 7));
    house_destroy(house);
}

static void test_sold_out_is_true_only_while_it_is_known(void **state)
{
    (void)state;
    struct house *house = house_of(1);
    assert_false(house_is_sold_out(house));
    assert_true(apply_one(house, 1, 1, 7));
    assert_true(house_is_sold_out(house));
    assert_true(apply_one(house, 2, 1, 0)); /* given back */
    assert_false(house_is_sold_out(house));
    assert_true(apply_one(house, 3, 1, 8));
    house_distrust(house);
    assert_false(house_is_sold_out(house));
    catch_up(house, 3, NULL, 0);
    assert_true(house_is_sold_out(house));
    assert_false(apply_one(house, 5, 1, 0)); /* something was missed */
    assert_false(house_is_sold_out(house));
    assert_true(load(house, 2, 0, 0, NULL, 0));
    assert_true(house_is_sold_out(house));
    house_forget(house);
    assert_false(house_is_sold_out(house));
    house_destroy(house);
}

static void test_owner_is_never_zero_and_depends_on_the_user(void **state)
{
    (void)state;
    assert_true(house_owner(STR("")) != 0);
    assert_true(house_owner(STR("alice")) != 0);
    assert_true(house_owner(STR("alice")) == house_owner(STR("alice")));
    assert_true(house_owner(STR("alice")) != house_owner(STR("alicf")));
}

static void test_load_tells_who_sits_where(void **state)
{
    (void)state;
    struct house *house = house_create();
    const struct house_seat taken[] = {{2, 20}, {9, 90}};
    assert_true(load(house, 3, 17, SEATS, taken, 2));
    struct house_state now = house_state(house);
    assert_int_equal(now.generation, 3);
    assert_int_equal(now.version, 17);
    assert_int_equal(now.seats, SEATS);
    assert_int_equal(now.free, SEATS - 2);
    assert_true(now.trusted);
    assert_false(house_is_free(house, 2));
    assert_true(house_is_free(house, 3));
    assert_false(house_is_free(house, 0));
    assert_false(house_is_free(house, SEATS + 1));
    assert_true(house_has_owner(house, 90));
    assert_false(house_has_owner(house, 30));
    assert_int_equal(house_next_free(house, 2), 3);
    assert_int_equal(house_next_free(house, 9), 0);
    house_destroy(house);
}

static void test_changes_apply_in_order(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(apply_one(house, 2, 2, 22));
    assert_true(apply_one(house, 3, 1, 0));
    struct house_state now = house_state(house);
    assert_int_equal(now.version, 3);
    assert_int_equal(now.free, SEATS - 1);
    assert_true(now.trusted);
    assert_true(house_is_free(house, 1));
    assert_false(house_has_owner(house, 11));
    assert_true(house_has_owner(house, 22));
    house_destroy(house);
}

static void test_known_change_is_fine_and_changes_nothing(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(apply_one(house, 2, 1, 0));
    assert_true(apply_one(house, 1, 1, 11)); /* a late message */
    assert_true(house_is_free(house, 1));
    assert_int_equal(house_state(house).version, 2);
    assert_true(house_state(house).trusted);
    house_destroy(house);
}

static void test_gap_changes_nothing_but_trust(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 1, 11));
    assert_false(apply_one(house, 3, 3, 33));
    struct house_state now = house_state(house);
    assert_int_equal(now.version, 1);
    assert_false(now.trusted);
    assert_true(house_is_free(house, 3));
    assert_true(apply_one(house, 2, 2, 22)); /* the missing one came late */
    assert_false(house_state(house).trusted);
    house_destroy(house);
}

static void test_catch_up_after_a_gap(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_false(apply_one(house, 4, 4, 44));
    const struct house_seat missed[] = {{1, 11}, {2, 22}, {1, 0}, {4, 44}};
    catch_up(house, 4, missed, 4);
    struct house_state now = house_state(house);
    assert_int_equal(now.version, 4);
    assert_int_equal(now.free, SEATS - 2);
    assert_true(now.trusted);
    assert_true(house_is_free(house, 1));
    assert_true(apply_one(house, 5, 5, 55));
    house_destroy(house);
}

/* What was read from the database a moment ago must not undo what has come since. */
static void test_old_catch_up_does_not_go_back(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(apply_one(house, 2, 1, 0));
    catch_up(house, 1, &(struct house_seat){1, 11}, 1);
    assert_int_equal(house_state(house).version, 2);
    assert_true(house_is_free(house, 1));
    struct house_state other = {.generation = 2, .version = 8}; /* of a house that we have not loaded */
    house_catch_up(house, &other, 9, &(struct house_seat){5, 55}, 1);
    assert_int_equal(house_state(house).version, 2);
    assert_true(house_is_free(house, 5));
    house_destroy(house);
}

/* A large house takes a while to read; meanwhile seats are sold, or it is reset. */
static void test_old_load_does_not_go_back(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    struct house_state before = house_state(house);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(house_load(house, &before, &(struct house_picture){1, 0, SEATS, NULL, 0}));
    assert_int_equal(house_state(house).version, 1);
    assert_false(house_is_free(house, 1));

    before = house_state(house);
    assert_true(load(house, 2, 2, 5, NULL, 0)); /* a reset */
    assert_true(house_load(house, &before, &(struct house_picture){1, 1, SEATS, &(struct house_seat){1, 11}, 1}));
    assert_int_equal(house_state(house).generation, 2);
    assert_int_equal(house_state(house).seats, 5);
    assert_true(house_apply(house, 1, 2, &(struct house_seat){2, 22}, 1)); /* of the house before */
    assert_true(house_is_free(house, 2));
    assert_true(house_state(house).trusted);
    house_destroy(house);
}

static void test_backup_may_go_back(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(load(house, 1, 0, SEATS, NULL, 0));
    assert_int_equal(house_state(house).version, 0);
    assert_true(house_state(house).trusted);
    house_destroy(house);
}

/* A commit that may have happened after the reading began. */
static void test_doubt_outlives_an_older_reading(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    struct house_state before = house_state(house);
    house_distrust(house);
    assert_true(house_load(house, &before, &(struct house_picture){1, 1, SEATS, &(struct house_seat){1, 11}, 1}));
    assert_int_equal(house_state(house).version, 1);
    assert_false(house_state(house).trusted);
    house_catch_up(house, &before, 2, &(struct house_seat){2, 22}, 1);
    assert_int_equal(house_state(house).version, 2);
    assert_false(house_state(house).trusted);
    catch_up(house, 2, NULL, 0);
    assert_true(house_state(house).trusted);
    house_destroy(house);
}

static void test_another_generation_is_refused(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_false(house_apply(house, 2, 1, &(struct house_seat){1, 11}, 1));
    assert_true(house_is_free(house, 1));
    assert_false(house_state(house).trusted);
    house_destroy(house);
}

static void test_distrusted_and_forgotten(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    house_distrust(house);
    assert_false(house_state(house).trusted);
    catch_up(house, 0, NULL, 0);
    assert_true(house_state(house).trusted);
    struct house_state before = house_state(house);
    house_forget(house);
    assert_false(house_state(house).trusted);
    house_catch_up(house, &before, 1, NULL, 0); /* only a load helps */
    assert_false(house_state(house).trusted);
    assert_true(load(house, 1, 1, SEATS, NULL, 0));
    assert_true(house_state(house).trusted);
    house_destroy(house);
}

static void test_owner_may_change_directly(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    assert_true(apply_one(house, 1, 3, 33));
    assert_true(apply_one(house, 2, 3, 34));
    assert_false(house_has_owner(house, 33));
    assert_true(house_has_owner(house, 34));
    assert_int_equal(house_state(house).free, SEATS - 1);
    house_destroy(house);
}

static void test_reload_with_fewer_and_more_seats(void **state)
{
    (void)state;
    struct house *house = house_of(1000);
    for (int64_t seat = 1; seat <= 1000; seat++)
        assert_true(apply_one(house, seat, seat, (uint64_t)seat));
    assert_true(load(house, 2, 1001, 3, NULL, 0));
    assert_int_equal(house_state(house).free, 3);
    assert_int_equal(house_next_free(house, 4), 0);
    assert_false(house_has_owner(house, 5));
    assert_true(load(house, 3, 1002, 0, NULL, 0));
    assert_int_equal(house_state(house).seats, 0);
    assert_int_equal(house_next_free(house, 1), 0);
    assert_true(load(house, 4, 1003, 70000, NULL, 0));
    assert_true(house_is_free(house, 70000));
    house_destroy(house);
}

static void test_copy_of_the_free_seats(void **state)
{
    (void)state;
    struct house *house = house_of(70);
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(apply_one(house, 2, 65, 65));
    uint64_t words[2] = {0, 0};
    struct house_state now = house_copy_free(house, words, 2);
    assert_int_equal(now.version, 2);
    assert_true(words[0] == ~UINT64_C(1));
    assert_true(words[1] == (UINT64_C(1) << 6) - 2);
    words[0] = 42;
    assert_int_equal(house_copy_free(house, words, 1).seats, 70); /* not enough room: tells how much is needed */
    assert_true(words[0] == 42);
    house_destroy(house);
}

/* What a listener gets that has seen `version`. */

static void test_changes_since_a_version(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    struct house_seat changes[16];
    struct house_state now;
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(apply_one(house, 2, 2, 22));
    assert_true(apply_one(house, 3, 1, 0));

    assert_int_equal(house_changes_since(house, 1, 3, changes, 16, &now), 0);
    assert_int_equal(house_changes_since(house, 1, 2, changes, 16, &now), 1);
    assert_int_equal(changes[0].seat, 1);
    assert_int_equal(changes[0].owner, 0);
    assert_int_equal(now.version, 3);

    ptrdiff_t count = house_changes_since(house, 1, 0, changes, 16, &now);
    bool told[SEATS + 1] = {false};
    for (ptrdiff_t i = 0; i < count; i++) {
        told[changes[i].seat] = true;
        assert_true((changes[i].owner == 0) == (changes[i].seat == 1)); /* the present status, whenever it changed */
    }
    assert_true(told[1] && told[2] && !told[3]);

    assert_int_equal(house_changes_since(house, 1, 4, changes, 16, &now), -1);  /* from the future */
    assert_int_equal(house_changes_since(house, 1, -1, changes, 16, &now), -1); /* before what we know */
    assert_int_equal(house_changes_since(house, 2, 2, changes, 16, &now), -1);  /* another generation */
    assert_int_equal(house_changes_since(house, 1, 0, changes, 1, &now), -1);   /* too many */
    house_destroy(house);
}

static void test_changes_since_before_a_load(void **state)
{
    (void)state;
    struct house *house = house_of(SEATS);
    struct house_seat changes[16];
    struct house_state now;
    assert_true(apply_one(house, 1, 1, 11));
    assert_true(load(house, 1, 5, SEATS, NULL, 0)); /* what happened between 1 and 5 is not known */
    assert_int_equal(house_changes_since(house, 1, 1, changes, 16, &now), -1);
    assert_int_equal(house_changes_since(house, 1, 5, changes, 16, &now), 0);
    assert_true(apply_one(house, 6, 6, 66));
    assert_int_equal(house_changes_since(house, 1, 5, changes, 16, &now), 1);
    house_destroy(house);
}

static void test_full_ring_forgets_the_oldest(void **state)
{
    (void)state;
    enum { EXTRA = 10 };
    struct house *house = house_of(RING + EXTRA);
    struct house_seat *changes = calloc(RING + EXTRA, sizeof(*changes));
    struct house_state now;
    for (int64_t version = 1; version <= RING + EXTRA; version++)
        assert_true(apply_one(house, version, version, (uint64_t)version));
    assert_int_equal(house_changes_since(house, 1, EXTRA - 1, changes, RING + EXTRA, &now), -1);
    assert_int_equal(house_changes_since(house, 1, EXTRA, changes, RING + EXTRA, &now), RING);
    assert_int_equal(house_changes_since(house, 1, RING, changes, RING + EXTRA, &now), EXTRA);
    free(changes);
    house_destroy(house);
}

/* A version of many seats that is half overwritten cannot be told any more. */
static void test_half_overwritten_version_is_forgotten(void **state)
{
    (void)state;
    enum { LARGE = 100 };
    struct house *house = house_of(RING + LARGE);
    struct house_seat first[LARGE], *changes = calloc(RING + LARGE, sizeof(*changes));
    struct house_state now;
    for (int64_t i = 0; i < LARGE; i++)
        first[i] = (struct house_seat){i + 1, 1000 + (uint64_t)i};
    assert_true(house_apply(house, 1, 1, first, LARGE));
    for (int64_t version = 2; version <= RING - LARGE / 2; version++)
        assert_true(apply_one(house, version, LARGE + version, (uint64_t)version));
    assert_int_equal(house_changes_since(house, 1, 0, changes, RING + LARGE, &now), -1);
    assert_int_equal(house_changes_since(house, 1, 1, changes, RING + LARGE, &now), RING - LARGE / 2 - 1);
    free(changes);
    house_destroy(house);
}

static void count_call(void *context)
{
    ++*(int *)context;
}

static void test_changes_are_told(void **state)
{
    (void)state;
    struct house *house = house_create();
    int calls = 0;
    house_on_change(house, count_call, &calls);
    assert_true(load(house, 1, 0, SEATS, NULL, 0));
    assert_int_equal(calls, 1);
    assert_true(apply_one(house, 1, 1, 11));
    assert_int_equal(calls, 2);
    assert_true(apply_one(house, 1, 1, 11)); /* nothing new */
    assert_false(apply_one(house, 9, 1, 11));
    assert_int_equal(calls, 2);
    catch_up(house, 3, &(struct house_seat){1, 0}, 1);
    assert_int_equal(calls, 3);
    house_destroy(house);
}

/* Readers on other threads always see a whole version: each one moves the two owners to other seats. */

enum { READERS = 3, VERSIONS = 3000 };

struct scene {
    struct house *house;
    atomic_bool done;
};

static void *read_all_the_time(void *argument)
{
    struct scene *scene = argument;
    int64_t last_version = 0;
    size_t wrong = 0;
    while (!atomic_load(&scene->done)) {
        uint64_t words[2];
        struct house_seat changes[64];
        struct house_state now = house_copy_free(scene->house, words, 2);
        int taken = 0;
        for (int64_t seat = 1; seat <= now.seats; seat++)
            taken += !(words[(seat - 1) / 64] >> ((seat - 1) % 64) & 1);
        wrong += taken != now.seats - now.free || taken != 2;
        wrong += now.version < last_version;
        last_version = now.version;
        wrong += !house_has_owner(scene->house, 1) || !house_has_owner(scene->house, 2);
        int64_t next = house_next_free(scene->house, 1);
        wrong += next < 1 || next > 3;
        ptrdiff_t count = house_changes_since(scene->house, now.generation, now.version, changes, 64, &now);
        wrong += count > 0 && now.version <= last_version;
    }
    return (void *)wrong;
}

static void test_readers_see_whole_versions(void **state)
{
    (void)state;
    struct scene scene = {.house = house_create()};
    const struct house_seat start[] = {{1, 1}, {2, 2}};
    assert_true(load(scene.house, 1, 0, 100, start, 2));
    pthread_t readers[READERS];
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all_the_time, &scene), 0);
    for (int64_t version = 1; version <= VERSIONS; version++) {
        int64_t from = (version - 1) % 98 + 1, to = version % 98 + 1;
        if (version % 500 == 0) { /* everything anew, in between */
            const struct house_seat taken[] = {{to, 1}, {to + 1, 2}};
            assert_true(load(scene.house, 1, version, 100, taken, 2));
        } else {
            const struct house_seat changes[] = {{from, 0}, {from + 1, 0}, {to, 1}, {to + 1, 2}};
            assert_true(house_apply(scene.house, 1, version, changes, 4));
        }
    }
    atomic_store(&scene.done, true);
    for (size_t i = 0; i < READERS; i++) {
        void *wrong;
        pthread_join(readers[i], &wrong);
        assert_null(wrong);
    }
    house_destroy(scene.house);
}

/* The house as a picture. */

static void test_row_lengths(void **state)
{
    (void)state;
    static const struct {
        int64_t seats, length;
    } rows[] = {{0, 10}, {1, 10}, {9, 10}, {200, 10}, {201, 25}, {5000, 25}, {5001, 100}, {1000000, 100}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(office_row_length(rows[i].seats), rows[i].length);
}

static void test_seat_names(void **state)
{
    (void)state;
    static const struct {
        int64_t seat, row_length;
        const char *name;
    } rows[] = {
        {1, 10, "A-1"},      {9, 10, "A-9"},         {10, 10, "A-10"},      {11, 10, "B-1"},
        {260, 10, "Z-10"},   {261, 10, "AA-1"},      {25, 25, "A-25"},      {26, 25, "B-1"},
        {650, 25, "Z-25"},   {651, 25, "AA-1"},      {5000, 25, "GR-25"},   {2600, 100, "Z-100"},
        {2601, 100, "AA-1"}, {70200, 100, "ZZ-100"}, {70201, 100, "AAA-1"}, {1000000, 100, "NTP-100"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[SEAT_NAME_MAX];
        struct str made = str_make(name, seat_name(rows[i].seat, rows[i].row_length, name));
        if (!str_eq(made, str_from(rows[i].name)))
            fail_msg("seat %lld is %.*s, not %s", (long long)rows[i].seat, STR_ARG(made), rows[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_house_is_not_trusted),
        cmocka_unit_test(test_sold_out_is_true_only_while_it_is_known),
        cmocka_unit_test(test_owner_is_never_zero_and_depends_on_the_user),
        cmocka_unit_test(test_load_tells_who_sits_where),
        cmocka_unit_test(test_changes_apply_in_order),
        cmocka_unit_test(test_known_change_is_fine_and_changes_nothing),
        cmocka_unit_test(test_gap_changes_nothing_but_trust),
        cmocka_unit_test(test_catch_up_after_a_gap),
        cmocka_unit_test(test_old_catch_up_does_not_go_back),
        cmocka_unit_test(test_old_load_does_not_go_back),
        cmocka_unit_test(test_backup_may_go_back),
        cmocka_unit_test(test_doubt_outlives_an_older_reading),
        cmocka_unit_test(test_another_generation_is_refused),
        cmocka_unit_test(test_distrusted_and_forgotten),
        cmocka_unit_test(test_owner_may_change_directly),
        cmocka_unit_test(test_reload_with_fewer_and_more_seats),
        cmocka_unit_test(test_copy_of_the_free_seats),
        cmocka_unit_test(test_changes_since_a_version),
        cmocka_unit_test(test_changes_since_before_a_load),
        cmocka_unit_test(test_full_ring_forgets_the_oldest),
        cmocka_unit_test(test_half_overwritten_version_is_forgotten),
        cmocka_unit_test(test_changes_are_told),
        cmocka_unit_test(test_readers_see_whole_versions),
        cmocka_unit_test(test_row_lengths),
        cmocka_unit_test(test_seat_names),
    };
    return cmocka_run_group_tests_name("house", tests, NULL, NULL);
}
