#include "base/buf.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

static void test_adding(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(1000);
    assert_true(buf_add(&buf, STR("a")));
    assert_true(buf_add(&buf, STR("")));
    assert_true(buf_add(&buf, str_make(NULL, 0)));
    assert_true(buf_add_char(&buf, '\0'));
    assert_true(buf_add_uint(&buf, 0));
    assert_true(buf_add_uint(&buf, UINT64_MAX));
    assert_true(buf_add_int(&buf, INT64_MIN));
    assert_true(buf_add_int(&buf, INT64_MAX));
    assert_true(buf_add_format(&buf, "[%d %s]", -7, "x"));
    assert_false(buf.failed);
    assert_str_equal(buf_str(&buf), STR("a\0"
                                        "0"
                                        "18446744073709551615"
                                        "-9223372036854775808"
                                        "9223372036854775807"
                                        "[-7 x]"));
    buf_free(&buf);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf.max, 1000);
}

static void check_digits(uint64_t value)
{
    char digits[FORMAT_INT_MAX], expected[FORMAT_INT_MAX + 1];
    int length = snprintf(expected, sizeof(expected), "%" PRIu64, value);
    assert_str_equal(str_make(digits, format_uint(digits, value)), str_make(expected, (size_t)length));
    length = snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
    assert_str_equal(str_make(digits, format_int(digits, (int64_t)value)), str_make(expected, (size_t)length));
}

/* As printf does it: small ones, and around every power of ten and of two. */
static void test_digits(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 11000; value++)
        check_digits(value);
    for (uint64_t power = 10000; power <= UINT64_MAX / 10; power *= 10)
        for (uint64_t near = power - 2; near <= power + 2; near++)
            check_digits(near);
    for (int bit = 0; bit < 64; bit++)
        for (uint64_t near = 0; near < 5; near++)
            check_digits((UINT64_C(1) << bit) + near - 2);
}

static void test_growing_keeps_the_bytes(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 1 << 20);
    for (unsigned i = 0; i < 100000; i++)
        assert_true(buf_add_char(&buf, (char)(i % 251)));
    assert_int_equal(buf.len, 100000);
    for (unsigned i = 0; i < 100000; i++)
        assert_int_equal((unsigned char)buf.data[i], i % 251);
    assert_true(buf.size <= 1 << 20);
    buf_free(&buf);
}

static void test_the_maximum_holds(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(10);
    assert_true(buf_add(&buf, STR("0123456789"))); /* exactly full */
    assert_false(buf_add_char(&buf, 'x'));
    assert_true(buf.failed);
    assert_str_equal(buf_str(&buf), STR("0123456789")); /* nothing was added, not even a part */

    buf_clear(&buf);
    assert_false(buf.failed);
    assert_true(buf_add(&buf, STR("0123")));
    assert_false(buf_add(&buf, STR("4567890")));
    assert_str_equal(buf_str(&buf), STR("0123"));
    assert_true(buf_add(&buf, STR("4"))); /* what fits is still added, and the failure is not forgotten */
    assert_true(buf.failed);
    assert_null(buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.size <= 10);
    buf_free(&buf);

    buf = BUF_INIT(0);
    assert_true(buf_add(&buf, STR("")));
    assert_false(buf_add(&buf, STR("a")));
    buf_free(&buf);
}

static void test_consuming(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(100);
    buf_add(&buf, STR("hello world"));
    buf_consume(&buf, 0);
    assert_str_equal(buf_str(&buf), STR("hello world"));
    buf_consume(&buf, 6);
    assert_str_equal(buf_str(&buf), STR("world"));
    buf_consume(&buf, 5);
    assert_int_equal(buf.len, 0);
    buf_add(&buf, STR("again"));
    buf_consume(&buf, 99);
    assert_int_equal(buf.len, 0);
    buf_free(&buf);
}

static void test_c_string(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(6);
    buf_add(&buf, STR("hello"));
    assert_string_equal(buf_c_string(&buf), "hello");
    assert_int_equal(buf.len, 5);
    buf_add_char(&buf, '!');
    assert_null(buf_c_string(&buf)); /* no room for the NUL */
    buf_free(&buf);
}

static void test_reserving(void **state)
{
    (void)state;
    struct buf buf = BUF_INIT(1000);
    char *room = buf_reserve(&buf, 600);
    assert_non_null(room);
    memset(room, 'x', 600);
    buf.len += 600;
    assert_true(buf_reserve(&buf, 1) == buf.data + 600);
    assert_non_null(buf_reserve(&buf, 400));
    assert_null(buf_reserve(&buf, 401));
    buf_free(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adding),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_growing_keeps_the_bytes),
        cmocka_unit_test(test_the_maximum_holds),
        cmocka_unit_test(test_consuming),
        cmocka_unit_test(test_c_string),
        cmocka_unit_test(test_reserving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
