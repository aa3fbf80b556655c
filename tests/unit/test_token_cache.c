/* Tokens that were verified are known again, to the last character and until they expire; never more than so many. */
#include "gateway/jwt.h"
#include "gateway/token_cache.h"
#include "test.h"

#include <stdio.h>

enum { NOW = 1000, LATER = 2000, ROOM = 1024 };

static struct token_cache *cache;
static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 26);
    cache = token_cache_create(ROOM);
    assert_non_null(cache);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    token_cache_destroy(cache);
    arena_free(&arena);
    return 0;
}

/* What stands before the signature is the same for all: only that tells them apart. */
static struct str token_of(int number)
{
    return arena_format(&arena, "header.payload.%0*d", JWT_SIGNATURE_LENGTH, number);
}

static struct identity user_of(int number, int64_t expires_at)
{
    return (struct identity){
        .role = ROLE_STAFF,
        .user_id = arena_format(&arena, "user %d", number),
        .token_id = arena_format(&arena, "01890000-0000-7000-8000-%012d", number),
        .family = arena_format(&arena, "family %d", number),
        .expires_at = expires_at,
    };
}

static void keep(int number, int64_t now, int64_t expires_at)
{
    struct identity user = user_of(number, expires_at);
    token_cache_keep(cache, token_of(number), now, &user);
}

static bool knows(struct str token, int64_t now)
{
    struct identity found = {0};
    bool known = token_cache_find(cache, token, now, &arena, &found);
    assert_int_equal(found.role, known ? ROLE_STAFF : ROLE_ANONYMOUS); /* nothing is said of whom it does not know */
    assert_true(known || found.user_id.len == 0);
    return known;
}

static void test_tells_who_it_is(void **state)
{
    (void)state;
    struct identity user = user_of(7, LATER), found = {.by_cookie = true};
    assert_false(knows(token_of(7), NOW));
    keep(7, NOW, LATER);
    assert_true(token_cache_find(cache, token_of(7), NOW, &arena, &found));
    assert_int_equal(found.role, ROLE_STAFF);
    assert_str_equal(found.user_id, user.user_id);
    assert_str_equal(found.token_id, user.token_id);
    assert_str_equal(found.family, user.family);
    assert_int_equal(found.expires_at, LATER);
    assert_true(found.by_cookie); /* how it came is not the cache's business */
}

static void test_expires(void **state)
{
    (void)state;
    keep(7, NOW, LATER);
    assert_true(knows(token_of(7), LATER - 1));
    assert_false(knows(token_of(7), LATER));
    assert_false(knows(token_of(7), LATER + 1));
}

/* The signature of a good token under another payload is nobody's. */
static void test_every_character_counts(void **state)
{
    (void)state;
    struct str good = token_of(7);
    keep(7, NOW, LATER);
    char *copy = arena_bytes(&arena, good.len + 1);
    for (size_t i = 0; i < good.len; i++) {
        memcpy(copy, good.ptr, good.len);
        copy[i] = (char)(copy[i] ^ 1);
        assert_false(knows(str_make(copy, good.len), NOW));
    }
    for (size_t length = 0; length < good.len; length++) {
        assert_false(knows(str_first(good, length), NOW));
        assert_false(knows(str_from_offset(good, good.len - length), NOW));
    }
    copy[0] = 'x';
    memcpy(copy + 1, good.ptr, good.len);
    assert_false(knows(str_make(copy, good.len + 1), NOW));
    assert_true(knows(good, NOW));
}

static void test_too_short(void **state)
{
    (void)state;
    struct identity user = user_of(7, LATER);
    token_cache_keep(cache, STR("short"), NOW, &user);
    assert_false(knows(STR("short"), NOW));
    assert_false(knows((struct str){NULL, 0}, NOW));
}

static size_t count_known(int from, int to, int64_t now)
{
    size_t known = 0;
    for (int i = from; i < to; i++)
        known += knows(token_of(i), now);
    return known;
}

static void test_half_full_it_knows_nearly_all(void **state)
{
    (void)state;
    for (int i = 0; i < ROOM / 2; i++)
        keep(i, NOW, LATER);
    assert_true(count_known(0, ROOM / 2, NOW) > ROOM / 2 * 9 / 10);
}

static void test_is_bounded_and_the_last_stays(void **state)
{
    (void)state;
    for (int i = 0; i < ROOM * 8; i++) {
        keep(i, NOW, LATER);
        assert_true(knows(token_of(i), NOW));
    }
    size_t known = count_known(0, ROOM * 8, NOW);
    assert_true(known <= ROOM && known > ROOM * 9 / 10);
}

/* Who may come again is not put out for the sake of those who may not. */
static void test_takes_the_place_of_the_expired(void **state)
{
    (void)state;
    for (int i = 0; i < ROOM * 8; i++)
        keep(i, NOW, LATER);
    for (int i = 0; i < ROOM / 2; i++)
        keep(-1 - i, LATER, LATER + 1000);
    assert_true(count_known(-ROOM / 2, 0, LATER) > ROOM / 2 * 9 / 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_tells_who_it_is),
        TEST(test_expires),
        TEST(test_every_character_counts),
        TEST(test_too_short),
        TEST(test_half_full_it_knows_nearly_all),
        TEST(test_is_bounded_and_the_last_stays),
        TEST(test_takes_the_place_of_the_expired),
    };
    return cmocka_run_group_tests_name("token cache", tests, NULL, NULL);
}
