/* What the coordination port promises, over each adapter: local, and redis on a real server. */
#include "coord_scene.h"

static const struct scene_adapter *adapter;

static struct coord_lock_key one(const char *key)
{
    return (struct coord_lock_key){str_from(key), 1};
}

static enum coord_outcome lock_one(struct coord *coord, const char *key, const char *owner, int64_t ttl_ms)
{
    struct coord_lock_key lock = one(key);
    return scene_lock(coord, &lock, 1, str_from(owner), ttl_ms);
}

static enum coord_outcome unlock_one(struct coord *coord, const char *key, const char *owner)
{
    struct coord_lock_key lock = one(key);
    return scene_unlock(coord, &lock, 1, str_from(owner));
}

static void all_or_none(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    const struct coord_lock_key alice[] = {one("{aon}:user:alice"), one("{aon}:ip:1")};
    const struct coord_lock_key bob[] = {one("{aon}:user:bob"), one("{aon}:ip:1")};
    CHECK_OUTCOME(scene_lock(coord, alice, 2, STR("a"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, bob, 2, STR("b"), 5000), COORD_TAKEN);
    CHECK_OUTCOME(lock_one(coord, "{aon}:user:bob", "c", 5000), COORD_OK); /* nothing of b's attempt is left */
    CHECK_OUTCOME(scene_unlock(coord, alice, 2, STR("a")), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{aon}:ip:1", "d", 5000), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{aon}:user:alice", "d", 5000), COORD_OK);
}

static void test_lock_takes_all_keys_or_none(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, all_or_none, NULL);
}

static void owner_only(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    CHECK_OUTCOME(lock_one(coord, "{own}:k", "a", 5000), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{own}:k", "a", 5000), COORD_TAKEN);
    CHECK_OUTCOME(unlock_one(coord, "{own}:k", "b"), COORD_MISSING);
    CHECK_OUTCOME(lock_one(coord, "{own}:k", "b", 5000), COORD_TAKEN);
    CHECK_OUTCOME(unlock_one(coord, "{own}:k", "a"), COORD_OK);
    CHECK_OUTCOME(unlock_one(coord, "{own}:k", "a"), COORD_MISSING);
    CHECK_OUTCOME(lock_one(coord, "{own}:k", "b", 5000), COORD_OK);
    /* what is the owner's is released, also when another key is not */
    const struct coord_lock_key both[] = {one("{own}:other"), one("{own}:k")};
    CHECK_OUTCOME(scene_unlock(coord, both, 2, STR("b")), COORD_MISSING);
    CHECK_OUTCOME(lock_one(coord, "{own}:k", "c", 5000), COORD_OK);
}

static void test_only_the_owner_releases(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, owner_only, NULL);
}

/* By the lock itself, which may know that it need not look whose it is. */
static void released_by_lock(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    const struct coord_lock_key keys[] = {one("{by}:user"), one("{by}:ip")};
    struct coord_lock alice = {.keys = keys, .count = 2, .owner = STR("a"), .ttl_ms = 5000};
    CHECK_OUTCOME(coord_lock(coord, &alice), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{by}:ip", "b", 5000), COORD_TAKEN);
    CHECK_OUTCOME(coord_unlock(coord, &alice), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{by}:ip", "b", 5000), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{by}:user", "b", 5000), COORD_OK);

    CHECK_OUTCOME(coord_lock(coord, &alice), COORD_TAKEN);
    CHECK_OUTCOME(coord_unlock(coord, &alice), COORD_MISSING);         /* that she had it once does not count */
    CHECK_OUTCOME(lock_one(coord, "{by}:ip", "d", 5000), COORD_TAKEN); /* it is b's still */

    const struct coord_lock_key key = one("{by}:late");
    struct coord_lock late = {.keys = &key, .count = 1, .owner = STR("a"), .ttl_ms = 100};
    CHECK_OUTCOME(coord_lock(coord, &late), COORD_OK);
    scene_pass(adapter, 150);
    CHECK_OUTCOME(lock_one(coord, "{by}:late", "b", 5000), COORD_OK);
    CHECK_OUTCOME(coord_unlock(coord, &late), COORD_MISSING);
    CHECK_OUTCOME(lock_one(coord, "{by}:late", "c", 5000), COORD_TAKEN);

    /* Others may be beside us. */
    const struct coord_lock_key two = {STR("{by}:two"), 2};
    struct coord_lock beside = {.keys = &two, .count = 1, .owner = STR("a"), .ttl_ms = 5000};
    CHECK_OUTCOME(coord_lock(coord, &beside), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &two, 1, STR("b"), 5000), COORD_OK);
    CHECK_OUTCOME(coord_unlock(coord, &beside), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &two, 1, STR("b"), 5000), COORD_TAKEN);
    CHECK_OUTCOME(scene_lock(coord, &two, 1, STR("c"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &two, 1, STR("d"), 5000), COORD_TAKEN);
}

static void test_lock_is_released_by_itself(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, released_by_lock, NULL);
}

static void lock_expires(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    CHECK_OUTCOME(lock_one(coord, "{exp}:k", "a", 1000), COORD_OK);
    scene_pass(adapter, 100);
    CHECK_OUTCOME(lock_one(coord, "{exp}:k", "b", 1000), COORD_TAKEN);
    scene_pass(adapter, 950);
    CHECK_OUTCOME(lock_one(coord, "{exp}:k", "b", 5000), COORD_OK);
    CHECK_OUTCOME(unlock_one(coord, "{exp}:k", "a"), COORD_MISSING); /* it is b's now */
    CHECK_OUTCOME(lock_one(coord, "{exp}:k", "c", 5000), COORD_TAKEN);

    /* Each for its own time, whatever its neighbours' is. */
    CHECK_OUTCOME(lock_one(coord, "{exp2}:before", "a", 5000), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{exp2}:short", "a", 50), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{exp2}:after", "a", 5000), COORD_OK);
    scene_pass(adapter, 250);
    CHECK_OUTCOME(lock_one(coord, "{exp2}:before", "b", 5000), COORD_TAKEN);
    CHECK_OUTCOME(lock_one(coord, "{exp2}:short", "b", 5000), COORD_OK);
    CHECK_OUTCOME(lock_one(coord, "{exp2}:after", "b", 5000), COORD_TAKEN);
}

static void test_lock_expires(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, lock_expires, NULL);
}

static void several_owners(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    struct coord_lock_key three = {STR("{lim}:ip"), 3};
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("a"), 1000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("b"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("b"), 5000), COORD_TAKEN);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("c"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("d"), 5000), COORD_TAKEN);
    CHECK_OUTCOME(scene_unlock(coord, &three, 1, STR("d")), COORD_MISSING);
    CHECK_OUTCOME(scene_unlock(coord, &three, 1, STR("c")), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("d"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("e"), 5000), COORD_TAKEN);
    scene_pass(adapter, 1050); /* a's place expires, the others stay */
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("e"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &three, 1, STR("f"), 5000), COORD_TAKEN);

    /* With a key of one owner: a refused attempt takes no place of the many. */
    const struct coord_lock_key mixed[] = {{STR("{lim}:ip2"), 2}, one("{lim}:user")};
    CHECK_OUTCOME(scene_lock(coord, mixed, 2, STR("a"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, mixed, 2, STR("b"), 5000), COORD_TAKEN);
    CHECK_OUTCOME(scene_lock(coord, mixed, 1, STR("c"), 5000), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, mixed, 1, STR("d"), 5000), COORD_TAKEN);

    /* A limit that was raised while the key was held: released all the same. */
    struct coord_lock_key raised = {STR("{lim}:user"), 4};
    CHECK_OUTCOME(scene_unlock(coord, &raised, 1, STR("a")), COORD_OK);
    CHECK_OUTCOME(scene_lock(coord, &raised, 1, STR("b"), 5000), COORD_OK);
}

static void test_lock_with_several_owners(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, several_owners, NULL);
}

struct tally {
    atomic_int ok, taken, limited, other, unlocked;
    atomic_int next; /* makes owners and keys different across loops */
};

static void tally_up(struct tally *tally, enum coord_outcome outcome)
{
    atomic_fetch_add(outcome == COORD_OK        ? &tally->ok
                     : outcome == COORD_TAKEN   ? &tally->taken
                     : outcome == COORD_LIMITED ? &tally->limited
                                                : &tally->other,
                     1);
}

static void race_for_lock(struct coord *coord, void *arg, size_t n)
{
    struct tally *tally = arg;
    char owner[16], own_key[32];
    int me = atomic_fetch_add(&tally->next, 1);
    (void)n;
    snprintf(owner, sizeof(owner), "o%d", me);
    snprintf(own_key, sizeof(own_key), "{race}:user:%d", me);
    const struct coord_lock_key keys[] = {one(own_key), one("{race}:ip")};
    enum coord_outcome outcome = scene_lock(coord, keys, 2, str_from(owner), 60000);
    tally_up(tally, outcome);
    /* The losers' own keys are free again, and everybody's own key is everybody's. */
    if (outcome == COORD_TAKEN)
        CHECK_OUTCOME(scene_lock(coord, keys, 1, str_from(owner), 60000), COORD_OK);
    if (scene_unlock(coord, keys, 1, str_from(owner)) == COORD_OK)
        atomic_fetch_add(&tally->unlocked, 1);
}

static void five_hundred_race(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    scene_crowd(coord, 500, race_for_lock, arg);
}

static void test_one_of_a_thousand_gets_the_lock(void **state)
{
    adapter = *state;
    struct tally tally = {0};
    scene_run(adapter, 2, five_hundred_race, &tally);
    assert_int_equal(tally.ok, 1);
    assert_int_equal(tally.taken, 999);
    assert_int_equal(tally.unlocked, 1000);
}

/* Attempts of all kinds at once on a few keys. Nobody is let in beside as many as the key's limit, and in the end all
 * is free again. */
enum { CROWDED_KEYS = 4, CROWD = 150, ATTEMPTS = 20 };
static const struct coord_lock_key crowded[CROWDED_KEYS] = {{STR_INIT("{mix}:a"), 1},
                                                            {STR_INIT("{mix}:b"), 1},
                                                            {STR_INIT("{mix}:c"), 3},
                                                            {STR_INIT("{mix}:d"), 5}};
struct crowd {
    atomic_int inside[CROWDED_KEYS], locked, refused, next;
};

static void lock_and_unlock(struct coord *coord, void *arg, size_t n)
{
    struct crowd *crowd = arg;
    char owner[16];
    for (size_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t first = (n + attempt) % CROWDED_KEYS, count = 1 + (n + attempt / 4) % (CROWDED_KEYS - first);
        snprintf(owner, sizeof(owner), "o%d", atomic_fetch_add(&crowd->next, 1));
        struct coord_lock lock = {.keys = crowded + first,
                                  .count = count,
                                  .owner = str_from(owner),
                                  .ttl_ms = n % 2 ? 30000 : 60000};
        enum coord_outcome outcome = coord_lock(coord, &lock);
        if (outcome != COORD_OK) {
            CHECK_OUTCOME(outcome, COORD_TAKEN);
            atomic_fetch_add(&crowd->refused, 1);
            continue;
        }
        atomic_fetch_add(&crowd->locked, 1);
        for (size_t i = first; i < first + count; i++)
            CHECK(atomic_fetch_add(&crowd->inside[i], 1) < (int)crowded[i].limit);
        task_sleep((int64_t)(n % 3));
        for (size_t i = first; i < first + count; i++)
            atomic_fetch_sub(&crowd->inside[i], 1);
        if (n % 5 == 0)
            lock.certain_until_ns = 0;
        CHECK_OUTCOME(coord_unlock(coord, &lock), COORD_OK);
    }
}

static void crowd_locks(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    scene_crowd(coord, CROWD, lock_and_unlock, arg);
}

static void all_is_free(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    char owner[16];
    for (size_t key = 0; key < CROWDED_KEYS; key++) {
        for (uint32_t place = 0; place < crowded[key].limit; place++) {
            snprintf(owner, sizeof(owner), "last%u", place);
            CHECK_OUTCOME(scene_lock(coord, &crowded[key], 1, str_from(owner), 60000), COORD_OK);
        }
        CHECK_OUTCOME(scene_lock(coord, &crowded[key], 1, STR("late"), 60000), COORD_TAKEN);
        for (uint32_t place = 0; place < crowded[key].limit; place++) {
            snprintf(owner, sizeof(owner), "last%u", place);
            CHECK_OUTCOME(scene_unlock(coord, &crowded[key], 1, str_from(owner)), COORD_OK);
        }
    }
}

static void crowd_and_check(struct coord *coord, void *arg, size_t n)
{
    crowd_locks(coord, arg, n);
    all_is_free(coord, arg, n);
}

static void test_locks_of_all_kinds_at_once(void **state)
{
    adapter = *state;
    struct crowd crowd = {0};
    scene_run(adapter, 2, crowd_locks, &crowd);
    scene_run(adapter, 1, crowd_and_check, &crowd);
    assert_int_equal(crowd.locked + crowd.refused, 3 * CROWD * ATTEMPTS);
    assert_true(crowd.locked >= ATTEMPTS && crowd.refused >= ATTEMPTS);
}

enum { DRAWS = 2000, DRAWERS = 200 };
struct draws {
    atomic_int seen[2 * DRAWS + 1];
};

static void draw(struct coord *coord, void *arg, size_t n)
{
    struct draws *draws = arg;
    int64_t last = 0;
    (void)n;
    for (int i = 0; i < DRAWS / DRAWERS; i++) {
        int64_t value = 0;
        CHECK_OUTCOME(coord_sequence(coord, STR("{seq}:n"), &value), COORD_OK);
        CHECK(value > last && value <= 2 * DRAWS);
        last = value;
        if (value > 0 && value <= 2 * DRAWS)
            atomic_fetch_add(&draws->seen[value], 1);
    }
}

static void many_draw(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    scene_crowd(coord, DRAWERS, draw, arg);
}

static void test_sequence_is_unique_and_gapless(void **state)
{
    adapter = *state;
    struct draws *draws = test_calloc(1, sizeof(*draws));
    scene_run(adapter, 2, many_draw, draws);
    for (int i = 1; i <= 2 * DRAWS; i++)
        assert_int_equal(draws->seen[i], 1);
    test_free(draws);
}

static void raise_sequence(struct coord *coord, void *arg, size_t n)
{
    int64_t value = 0;
    (void)arg, (void)n;
    CHECK_OUTCOME(coord_sequence_raise(coord, STR("{raise}:n"), 100), COORD_OK);
    CHECK_OUTCOME(coord_sequence(coord, STR("{raise}:n"), &value), COORD_OK);
    CHECK(value == 101);
    CHECK_OUTCOME(coord_sequence_raise(coord, STR("{raise}:n"), 50), COORD_OK);
    CHECK_OUTCOME(coord_sequence(coord, STR("{raise}:n"), &value), COORD_OK);
    CHECK(value == 102);
    CHECK_OUTCOME(coord_sequence(coord, STR("{raise}:other"), &value), COORD_OK);
    CHECK(value == 1);
}

static void test_sequence_is_raised_never_lowered(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, raise_sequence, NULL);
}

static void counts(struct coord *coord, void *arg, size_t n)
{
    int64_t sum = 0;
    (void)arg, (void)n;
    CHECK_OUTCOME(coord_count(coord, STR("{count}:k"), 5, 1000, &sum), COORD_OK);
    CHECK(sum == 5);
    scene_pass(adapter, 300);
    CHECK_OUTCOME(coord_count(coord, STR("{count}:k"), -2, 1000, &sum), COORD_OK); /* does not begin anew */
    CHECK(sum == 3);
    scene_pass(adapter, 750);
    CHECK_OUTCOME(coord_count(coord, STR("{count}:k"), 1, 1000, &sum), COORD_OK);
    CHECK(sum == 1);
}

static void test_count_lives_from_its_first_addition(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, counts, NULL);
}

static void ask_for_a_place(struct coord *coord, void *arg, size_t n)
{
    int64_t retry_after_ms = -1;
    (void)n;
    enum coord_outcome outcome = coord_rate(coord, STR("{rate}:crowd"), 50, 60000, &retry_after_ms);
    tally_up(arg, outcome);
    if (outcome == COORD_LIMITED)
        CHECK(retry_after_ms > 50000 && retry_after_ms <= 60000);
}

static void crowd_asks(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    scene_crowd(coord, 250, ask_for_a_place, arg);
}

static void test_rate_is_exact_under_concurrency(void **state)
{
    adapter = *state;
    struct tally tally = {0};
    scene_run(adapter, 2, crowd_asks, &tally);
    assert_int_equal(tally.ok, 50);
    assert_int_equal(tally.limited, 450);
}

enum { WINDOW_MS = 2000, STEP_MS = 600, ROUNDING_MS = 2 };

static enum coord_outcome place(struct coord *coord, uint32_t limit, int64_t *retry_after_ms)
{
    return coord_rate(coord, STR("{rate}:slide"), limit, WINDOW_MS, retry_after_ms);
}

static void slides(struct coord *coord, void *arg, size_t n)
{
    int64_t retry = -1, first_ns = clock_mono_ns();
    (void)arg, (void)n;
    for (int i = 0; i < 3; i++) {
        if (i > 0)
            scene_pass(adapter, STEP_MS);
        CHECK_OUTCOME(place(coord, 3, &retry), COORD_OK);
        CHECK(retry == 0);
    }
    CHECK_OUTCOME(place(coord, 3, &retry), COORD_LIMITED);
    CHECK(retry > 0 && retry <= WINDOW_MS - 2 * STEP_MS + ROUNDING_MS);
    CHECK(retry >= WINDOW_MS - scene_ms_since(first_ns) - ROUNDING_MS);
    scene_pass(adapter, retry + 5); /* exactly as long as told: one place comes back */
    CHECK_OUTCOME(place(coord, 3, &retry), COORD_OK);
    CHECK_OUTCOME(place(coord, 3, &retry), COORD_LIMITED);
    scene_pass(adapter, retry + 5); /* and the next */
    CHECK_OUTCOME(place(coord, 3, &retry), COORD_OK);
    CHECK_OUTCOME(place(coord, 3, &retry), COORD_LIMITED);
    CHECK_OUTCOME(place(coord, 4, &retry), COORD_OK); /* a limit may change at any time */
    CHECK_OUTCOME(place(coord, 2, &retry), COORD_LIMITED);
    scene_pass(adapter, WINDOW_MS + 50);
    for (int i = 0; i < 4; i++)
        CHECK_OUTCOME(place(coord, 4, &retry), COORD_OK);
    CHECK_OUTCOME(place(coord, 4, &retry), COORD_LIMITED);
}

static void test_rate_gives_places_back_one_by_one(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, slides, NULL);
}

static void values(struct coord *coord, void *arg, size_t n)
{
    struct arena arena;
    struct str value;
    int64_t ttl_ms = -1;
    (void)arg, (void)n;
    arena_init(&arena, 8 * 1024 * 1024);
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:a"), &arena, &value, &ttl_ms), COORD_MISSING);
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:a"), &arena, &value, NULL), COORD_MISSING);
    CHECK_OUTCOME(coord_set(coord, STR("{kv}:a"), STR("one\0two"), 0), COORD_OK);
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:a"), &arena, &value, &ttl_ms), COORD_OK);
    CHECK(str_eq(value, STR("one\0two")) && ttl_ms == 0);
    CHECK_OUTCOME(coord_set(coord, STR("{kv}:a"), STR(""), 1000), COORD_OK); /* replaced, now with an end */
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:a"), &arena, &value, &ttl_ms), COORD_OK);
    CHECK(value.len == 0 && ttl_ms > 50 && ttl_ms <= 1000);
    scene_pass(adapter, 1050);
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:a"), &arena, &value, NULL), COORD_MISSING);
    CHECK_OUTCOME(coord_set(coord, STR("{kv}:b"), STR("x"), 0), COORD_OK);
    CHECK_OUTCOME(coord_delete(coord, STR("{kv}:b")), COORD_OK);
    CHECK_OUTCOME(coord_delete(coord, STR("{kv}:b")), COORD_MISSING);

    char *large = arena_bytes(&arena, COORD_VALUE_MAX + 1);
    memset(large, 'x', COORD_VALUE_MAX + 1);
    CHECK_OUTCOME(coord_set(coord, STR("{kv}:l"), str_make(large, COORD_VALUE_MAX), 5000), COORD_OK);
    CHECK_OUTCOME(coord_get(coord, STR("{kv}:l"), &arena, &value, NULL), COORD_OK);
    CHECK(str_eq(value, str_make(large, COORD_VALUE_MAX)));
    CHECK_OUTCOME(coord_set(coord, STR("{kv}:l"), str_make(large, COORD_VALUE_MAX + 1), 5000), COORD_FAILED);
    CHECK_OUTCOME(coord_delete(coord, str_make(large, COORD_KEY_MAX + 1)), COORD_FAILED);
    arena_free(&arena);
}

static void test_values(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, values, NULL);
}

static void wrong_kind(struct coord *coord, void *arg, size_t n)
{
    int64_t number;
    (void)arg, (void)n;
    CHECK_OUTCOME(coord_rate(coord, STR("{kind}:rate"), 5, 60000, &number), COORD_OK);
    CHECK_OUTCOME(coord_count(coord, STR("{kind}:rate"), 1, 0, &number), COORD_FAILED);
    CHECK_OUTCOME(coord_sequence(coord, STR("{kind}:rate"), &number), COORD_FAILED);
    CHECK_OUTCOME(coord_rate(coord, STR("{kind}:rate"), 5, 60000, &number), COORD_OK); /* goes on working */
}

static void test_a_key_of_another_kind_fails(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, wrong_kind, NULL);
}

static void becomes_ready(struct coord *coord, void *arg, size_t n)
{
    int64_t value;
    (void)arg, (void)n;
    CHECK_OUTCOME(coord_sequence(coord, STR("{ready}:n"), &value), COORD_OK);
    CHECK(coord_trouble(coord) == NULL);
}

static void test_no_trouble_when_it_works(void **state)
{
    adapter = *state;
    scene_run(adapter, 1, becomes_ready, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE_ON_BOTH(test_lock_takes_all_keys_or_none),
        SCENE_ON_BOTH(test_only_the_owner_releases),
        SCENE_ON_BOTH(test_lock_is_released_by_itself),
        SCENE_ON_BOTH(test_lock_expires),
        SCENE_ON_BOTH(test_lock_with_several_owners),
        SCENE_ON_BOTH(test_one_of_a_thousand_gets_the_lock),
        SCENE_ON_BOTH(test_locks_of_all_kinds_at_once),
        SCENE_ON_BOTH(test_sequence_is_unique_and_gapless),
        SCENE_ON_BOTH(test_sequence_is_raised_never_lowered),
        SCENE_ON_BOTH(test_count_lives_from_its_first_addition),
        SCENE_ON_BOTH(test_rate_is_exact_under_concurrency),
        SCENE_ON_BOTH(test_rate_gives_places_back_one_by_one),
        SCENE_ON_BOTH(test_values),
        SCENE_ON_BOTH(test_a_key_of_another_kind_fails),
        SCENE_ON_BOTH(test_no_trouble_when_it_works),
    };
    return cmocka_run_group_tests_name("coord", tests, scene_start, scene_stop);
}
