/* The bounds of the local adapter: its table is full at max_entries, for all but locks at half of that, and what has
 * expired makes room. */
#include "coord_scene.h"

#include "base/clock.h"
#include "base/log.h"
#include "coord/local_table.h"

enum { ENTRIES = 200 };
static const struct scene_adapter small = {.settings = {.max_entries = 2 * ENTRIES}};

static enum coord_outcome set(struct coord *coord, int number, int64_t ttl_ms)
{
    char key[32];
    snprintf(key, sizeof(key), "key:%d", number);
    return coord_set(coord, str_from(key), STR("value"), ttl_ms);
}

static void fill(struct coord *coord, int from, int64_t ttl_ms)
{
    for (int i = 0; i < ENTRIES; i++)
        CHECK_OUTCOME(set(coord, from + i, ttl_ms), COORD_OK);
}

static void fills_up(struct coord *coord, void *arg, size_t n)
{
    int64_t number;
    struct coord_lock_key lock = {STR("lock"), 1};
    (void)arg, (void)n;
    fill(coord, 0, 1000);
    CHECK_OUTCOME(set(coord, ENTRIES, 1000), COORD_FAILED);
    CHECK_OUTCOME(scene_lock(coord, &lock, 1, STR("a"), 1000), COORD_OK); /* others do not take a lock's room */
    CHECK_OUTCOME(scene_unlock(coord, &lock, 1, STR("a")), COORD_OK);
    CHECK_OUTCOME(coord_sequence(coord, STR("n"), &number), COORD_FAILED);
    CHECK_OUTCOME(coord_count(coord, STR("c"), 1, 1000, &number), COORD_FAILED);
    CHECK_OUTCOME(coord_rate(coord, STR("r"), 1, 1000, &number), COORD_FAILED);
    CHECK_OUTCOME(set(coord, 7, 1000), COORD_OK); /* what is there can be changed */
    CHECK_OUTCOME(coord_delete(coord, STR("key:7")), COORD_OK);
    CHECK_OUTCOME(set(coord, 7, 1000), COORD_OK);
    for (int round = 1; round < 10; round++) {
        clock_move(1001);
        fill(coord, round * ENTRIES, 1000);
        CHECK_OUTCOME(set(coord, round * ENTRIES + ENTRIES, 1000), COORD_FAILED);
    }
}

static void test_full_table(void **state)
{
    (void)state;
    scene_run(&small, 1, fills_up, NULL);
}

/* The first key finds room, the second does not: the first is given back. */
static void locks_at_the_limit(struct coord *coord, void *arg, size_t n)
{
    const struct coord_lock_key both[] = {{STR("{l}:a"), 1}, {STR("{l}:b"), 1}};
    (void)arg, (void)n;
    fill(coord, 0, 1000);
    for (int i = 1; i < ENTRIES; i++) {
        char key[32];
        snprintf(key, sizeof(key), "lock:%d", i);
        struct coord_lock_key lock = {str_from(key), 1};
        CHECK_OUTCOME(scene_lock(coord, &lock, 1, STR("w"), 1000), COORD_OK);
    }
    CHECK_OUTCOME(scene_lock(coord, both, 2, STR("x"), 1000), COORD_FAILED);
    CHECK_OUTCOME(scene_lock(coord, both, 1, STR("y"), 1000), COORD_OK);
}

static void test_lock_takes_nothing_when_there_is_no_room(void **state)
{
    (void)state;
    scene_run(&small, 1, locks_at_the_limit, NULL);
}

static void grows_large(struct coord *coord, void *arg, size_t n)
{
    static char large[64 * 1024];
    char key[32];
    int stored = 0;
    (void)arg, (void)n;
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(key, sizeof(key), "large:%d", i);
        stored += coord_set(coord, str_from(key), str_make(large, sizeof(large)), 1000) == COORD_OK;
    }
    CHECK(stored >= 1 && (size_t)stored * sizeof(large) <= ENTRIES * 1024);
    clock_move(1001);
    CHECK_OUTCOME(coord_set(coord, STR("large:again"), str_make(large, sizeof(large)), 1000), COORD_OK);
}

static void test_bytes_are_bounded(void **state)
{
    (void)state;
    scene_run(&small, 1, grows_large, NULL);
}

static void insert_and_leave(struct local_table *table, int number, int64_t ttl_ms)
{
    char key[32];
    snprintf(key, sizeof(key), "key:%d", number);
    struct str name = str_from(key);
    struct local_hold hold;
    local_hold(&hold, table, &name, 1);
    struct local_entry *entry = local_insert(&hold, 0, LOCAL_NUMBER);
    assert_non_null(entry);
    entry->expires_ns = hold.now_ns + ttl_ms * NS_PER_MS;
    local_release(&hold);
}

/* Far from its limit, too: a table holds what lives, and about as much again of what has expired. */
static void test_what_expires_does_not_pile_up(void **state)
{
    enum { ALIVE = 5000, ROUNDS = 20 };
    (void)state;
    struct local_table *table = local_table_create(1000000);
    int number = 0;
    size_t most = 0;
    for (int round = 0; round < ROUNDS; round++) {
        clock_move(1001);
        for (int i = 0; i < ALIVE; i++)
            insert_and_leave(table, number++, 1000);
        if (local_table_entries(table) > most)
            most = local_table_entries(table);
    }
    assert_in_range(most, ALIVE, 3 * ALIVE);
    local_table_destroy(table);
}

/* Nobody is left who has one: a lock with a limit of one is to be had for every key. */
static void check_that_every_key_is_free(struct coord *coord)
{
    for (int i = 0; i < COORD_LOCK_KEYS * 16; i++) {
        char name[16];
        snprintf(name, sizeof(name), "key:%d", i);
        struct coord_lock_key key = {str_from(name), 1};
        CHECK_OUTCOME(scene_lock(coord, &key, 1, STR("end"), 60000), COORD_OK);
    }
}

enum { FIGHTERS = 4 };

/* Many threads fight over few keys with several locks each: no deadlock, and every key is free at the end. */
static void fights(struct coord *coord, void *arg, size_t n)
{
    atomic_size_t *finished = arg;
    for (int i = 0; i < 5000; i++) {
        char names[COORD_LOCK_KEYS][16], owner[16];
        struct coord_lock_key keys[COORD_LOCK_KEYS];
        for (int k = 0; k < COORD_LOCK_KEYS; k++) {
            snprintf(names[k], sizeof(names[k]), "key:%d", (i * (k + 3) + k * 7) % 16 + k * 16);
            keys[k] = (struct coord_lock_key){str_from(names[k]), k < 2 ? 1 : 2};
        }
        snprintf(owner, sizeof(owner), "%zu", n);
        enum coord_outcome outcome = scene_lock(coord, keys, COORD_LOCK_KEYS, str_from(owner), 60000);
        CHECK(outcome == COORD_OK || outcome == COORD_TAKEN);
        if (outcome == COORD_OK)
            CHECK_OUTCOME(scene_unlock(coord, keys, COORD_LOCK_KEYS, str_from(owner)), COORD_OK);
    }
    if (atomic_fetch_add(finished, 1) == FIGHTERS - 1)
        check_that_every_key_is_free(coord);
}

static void test_threads_share_the_table(void **state)
{
    (void)state;
    atomic_size_t finished = 0;
    scene_run(&small, FIGHTERS, fights, &finished);
    assert_int_equal(finished, FIGHTERS);
}

int main(void)
{
    log_setup(LOG_OFF, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_table),
        cmocka_unit_test(test_lock_takes_nothing_when_there_is_no_room),
        cmocka_unit_test(test_bytes_are_bounded),
        cmocka_unit_test(test_what_expires_does_not_pile_up),
        cmocka_unit_test(test_threads_share_the_table),
    };
    return cmocka_run_group_tests_name("coord local", tests, NULL, NULL);
}
