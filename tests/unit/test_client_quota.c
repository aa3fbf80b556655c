#include "base/cidr.h"
#include "http/client_quota.h"
#include "test.h"

static enum client_quota_outcome add(struct client_quota *quota, const char *text, size_t amount)
{
    struct in6_addr client;
    assert_true(cidr_parse_address(str_from(text), &client));
    return client_quota_add(quota, &client, amount);
}

static void drop(struct client_quota *quota, const char *text, size_t amount)
{
    struct in6_addr client;
    assert_true(cidr_parse_address(str_from(text), &client));
    client_quota_remove(quota, &client, amount);
}

static void test_in_all_and_each(void **state)
{
    (void)state;
    struct client_quota *quota = client_quota_create(100, 40);
    assert_int_equal(add(quota, "192.0.2.1", 40), CLIENT_QUOTA_ADDED);
    assert_int_equal(add(quota, "192.0.2.1", 1), CLIENT_QUOTA_ADDRESS_FULL);
    assert_int_equal(add(quota, "2001:db8::1", 30), CLIENT_QUOTA_ADDED);
    assert_int_equal(add(quota, "2001:db8::2", 11), CLIENT_QUOTA_ADDRESS_FULL); /* the same /64 */
    assert_false(client_quota_is_scarce(quota));
    assert_int_equal(add(quota, "192.0.2.3", 20), CLIENT_QUOTA_ADDED);
    assert_true(client_quota_is_scarce(quota));
    assert_int_equal(add(quota, "192.0.2.4", 11), CLIENT_QUOTA_FULL);
    assert_int_equal(client_quota_total(quota), 90); /* what was refused is not counted */
    drop(quota, "192.0.2.1", 40);
    assert_int_equal(add(quota, "192.0.2.4", 11), CLIENT_QUOTA_ADDED);
    client_quota_destroy(quota);
}

static void test_the_first_is_never_too_large(void **state)
{
    (void)state;
    struct client_quota *quota = client_quota_create(100, 40);
    assert_int_equal(add(quota, "192.0.2.1", 500), CLIENT_QUOTA_ADDED);
    assert_int_equal(add(quota, "192.0.2.2", 1), CLIENT_QUOTA_FULL);
    drop(quota, "192.0.2.1", 500);
    assert_int_equal(client_quota_total(quota), 0);
    client_quota_destroy(quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_all_and_each),
        cmocka_unit_test(test_the_first_is_never_too_large),
    };
    return cmocka_run_group_tests_name("client_quota", tests, NULL, NULL);
}
