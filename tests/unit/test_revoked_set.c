/* Which tokens were taken back: remembered until they expire, never more than so many. */
#include "gateway/revoked_set.h"
#include "test.h"

#include <stdio.h>

static struct revoked_set set;

static struct str id(int number)
{
    static char text[32];
    return str_make(text, (size_t)snprintf(text, sizeof(text), "token-%d", number));
}

static void test_remembers_until_expiry(void **state)
{
    (void)state;
    revoked_set_init(&set, 1000);
    assert_false(revoked_set_has(&set, id(1)));
    assert_true(revoked_set_add(&set, id(1), 100, 50));
    assert_true(revoked_set_add(&set, id(1), 100, 50)); /* told twice: by the server and by the table */
    assert_true(revoked_set_add(&set, id(2), 200, 50));
    assert_true(revoked_set_add(&set, id(3), 50, 50)); /* over already */
    assert_int_equal(set.count, 2);
    assert_true(revoked_set_has(&set, id(1)) && revoked_set_has(&set, id(2)));
    assert_false(revoked_set_has(&set, id(3)));
    revoked_set_forget(&set, 150);
    assert_false(revoked_set_has(&set, id(1)));
    assert_true(revoked_set_has(&set, id(2)));
    revoked_set_forget(&set, 200);
    assert_int_equal(set.count, 0);
    assert_false(revoked_set_has(&set, id(2)));
    revoked_set_free(&set);
}

static void test_grows(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    revoked_set_init(&set, MANY);
    for (int i = 0; i < MANY; i++)
        assert_true(revoked_set_add(&set, id(i), 100, 0));
    for (int i = 0; i < MANY; i++)
        assert_true(revoked_set_has(&set, id(i)));
    assert_false(revoked_set_has(&set, id(MANY)));
    assert_true(set.size <= 4 * MANY);
    revoked_set_free(&set);
}

static void test_is_bounded(void **state)
{
    (void)state;
    revoked_set_init(&set, 10);
    for (int i = 0; i < 10; i++)
        assert_true(revoked_set_add(&set, id(i), i < 5 ? 10 : 20, 0));
    assert_false(revoked_set_add(&set, id(10), 20, 0));
    assert_true(revoked_set_add(&set, id(9), 20, 0)); /* is in it */
    for (int i = 0; i < 10; i++)
        assert_true(revoked_set_has(&set, id(i)));
    assert_true(revoked_set_add(&set, id(10), 20, 10)); /* the expired ones make room */
    assert_true(revoked_set_has(&set, id(10)) && revoked_set_has(&set, id(9)));
    assert_int_equal(set.count, 6);
    revoked_set_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remembers_until_expiry),
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_is_bounded),
    };
    return cmocka_run_group_tests_name("revoked set", tests, NULL, NULL);
}
