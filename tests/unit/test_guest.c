/* Guests' cookies: only what this key has signed names somebody. */
#include "base/arena.h"
#include "gateway/guest.h"
#include "test.h"

#define KEY STR("the-key-of-the-tests")

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct str id = guest_new(&arena), other = guest_new(&arena);
    assert_false(str_eq(id, other));
    assert_true(guest_is_id(id));
    assert_str_equal(guest_read(&arena, KEY, guest_sign(&arena, KEY, id)), id);
    assert_str_equal(guest_read(&arena, KEY, guest_sign(&arena, KEY, other)), other);
    assert_false(guest_is_id(STR("alice")));
    assert_false(guest_is_id(STR("guest")));
    assert_false(guest_is_id(STR("")));
}

/* So that cookies of today are good tomorrow. */
static void test_format(void **state)
{
    (void)state;
    struct str cookie = guest_sign(&arena, KEY, STR("guest:AAECAwQFBgcICQoLDA0ODw"));
    assert_str_equal(cookie, STR("1.AAECAwQFBgcICQoLDA0ODw.zxatMsqbZwu9GV5AsPpAxV5DWrLZVZNYphuJcHxd_UQ"));
}

static void test_forgeries(void **state)
{
    (void)state;
    struct str cookie = guest_sign(&arena, KEY, guest_new(&arena));
    for (size_t i = 0; i < cookie.len; i++) { /* every character counts, and so does every one that is missing */
        struct str changed = arena_copy(&arena, cookie);
        char *bytes = (char *)changed.ptr;
        bytes[i] = bytes[i] == 'A' ? 'B' : 'A';
        assert_int_equal(guest_read(&arena, KEY, changed).len, 0);
        assert_int_equal(guest_read(&arena, KEY, str_first(cookie, i)).len, 0);
    }
    assert_int_equal(guest_read(&arena, STR("another-key"), cookie).len, 0);
    assert_int_equal(guest_read(&arena, STR(""), guest_sign(&arena, STR(""), guest_new(&arena))).len, 0);
    assert_int_equal(guest_read(&arena, KEY, (struct str){NULL, 0}).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_forgeries),
    };
    return cmocka_run_group_tests_name("guests", tests, set_up, tear_down);
}
