#include "base/cidr.h"
#include "http/address_counts.h"
#include "test.h"

static struct address_counts *counts;

static struct in6_addr address_of(const char *text)
{
    struct in6_addr address;
    assert_true(cidr_parse_address(str_from(text), &address));
    return address;
}

static bool add(const char *text, size_t max)
{
    struct in6_addr address = address_of(text);
    return address_counts_add(counts, &address, 1, max);
}

static void drop(const char *text)
{
    struct in6_addr address = address_of(text);
    address_counts_remove(counts, &address, 1);
}

static void test_amounts(void **state)
{
    (void)state;
    struct in6_addr one = address_of("192.0.2.1"), other = address_of("192.0.2.2");
    assert_true(address_counts_add(counts, &one, 500, 100)); /* the first is let in, however large */
    assert_false(address_counts_add(counts, &one, 1, 100));
    assert_true(address_counts_add(counts, &other, 60, 100));
    assert_false(address_counts_add(counts, &other, 41, 100));
    assert_true(address_counts_add(counts, &other, 40, 100));
    address_counts_remove(counts, &other, 60);
    assert_true(address_counts_add(counts, &other, 60, 100));
    address_counts_remove(counts, &one, 500);
    assert_true(address_counts_add(counts, &one, 100, 100));
}

static int set_up(void **state)
{
    (void)state;
    counts = address_counts_create();
    return counts ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    address_counts_destroy(counts);
    return 0;
}

static void test_each_address_has_its_own_count(void **state)
{
    (void)state;
    assert_true(add("1.2.3.4", 2));
    assert_true(add("::ffff:1.2.3.4", 2)); /* the same one */
    assert_false(add("1.2.3.4", 2));
    assert_true(add("1.2.3.5", 2));
    drop("1.2.3.4");
    assert_true(add("1.2.3.4", 2));
}

/* Whoever has one address of a /64 has all of them. */
static void test_a_network_of_ipv6_is_one(void **state)
{
    (void)state;
    assert_true(add("2001:db8::1", 2));
    assert_true(add("2001:db8::2", 2));
    assert_false(add("2001:db8::ffff:ffff:ffff:ffff", 2));
    assert_true(add("2001:db8:0:1::1", 2));
    drop("2001:db8::1");
    assert_true(add("2001:db8::3", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_address_has_its_own_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_network_of_ipv6_is_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_amounts, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("address_counts", tests, NULL, NULL);
}
