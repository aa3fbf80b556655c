#include "base/clock.h"
#include "base/uuid.h"
#include "test.h"

#include <stdlib.h>

static int64_t time_of(struct uuid id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id.bytes[i];
    return ms;
}

static void test_version_7(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t before = clock_wall_ms();
        struct uuid id = uuid_new();
        assert_in_range(time_of(id), before, clock_wall_ms());
        assert_int_equal(id.bytes[6] >> 4, 7);
        assert_int_equal(id.bytes[8] >> 6, 2);
    }
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct uuid));
}

static void test_no_two_are_equal(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct uuid *ids = malloc(COUNT * sizeof(*ids));
    assert_non_null(ids);
    for (int i = 0; i < COUNT; i++)
        ids[i] = uuid_new();
    qsort(ids, COUNT, sizeof(*ids), compare);
    for (int i = 1; i < COUNT; i++)
        assert_true(compare(&ids[i - 1], &ids[i]) < 0);
    free(ids);
}

static void test_later_ones_sort_later(void **state)
{
    (void)state;
    struct uuid early = uuid_new();
    clock_move(2);
    struct uuid late = uuid_new();
    clock_move(-2);
    assert_true(compare(&early, &late) < 0);
}

static void test_text(void **state)
{
    (void)state;
    struct uuid id, back;
    char text[UUID_TEXT];
    assert_true(uuid_parse(STR("01234567-89aB-CDEF-fedc-ba9876543210"), &id));
    uuid_format(id, text);
    assert_str_equal(str_make(text, UUID_TEXT), STR("01234567-89ab-cdef-fedc-ba9876543210"));
    for (int i = 0; i < 1000; i++) {
        id = uuid_new();
        uuid_format(id, text);
        assert_true(uuid_parse(str_make(text, UUID_TEXT), &back));
        assert_int_equal(compare(&id, &back), 0);
    }
}

static void test_what_is_no_uuid(void **state)
{
    (void)state;
    static const struct str bad[] = {
        STR_INIT(""),
        STR_INIT("0123456789abcdeffedcba9876543210"),
        STR_INIT("{01234567-89ab-cdef-fedc-ba9876543210}"),
        STR_INIT("01234567-89ab-cdef-fedc-ba987654321"),
        STR_INIT("01234567-89ab-cdef-fedc-ba98765432100"),
        STR_INIT("01234567-89ab-cdef-fedc-ba987654321g"),
        STR_INIT("01234567-89ab-cdef-fedc-ba987654321\0"),
        STR_INIT("0123456-789ab-cdef-fedc-ba9876543210"),
        STR_INIT("01234567_89ab_cdef_fedc_ba9876543210"),
        STR_INIT(" 1234567-89ab-cdef-fedc-ba9876543210"),
        STR_INIT("-1234567-89ab-cdef-fedc-ba9876543210"),
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct uuid id;
        if (uuid_parse(bad[i], &id))
            fail_msg("accepted '%.*s'", STR_ARG(bad[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_7),
        cmocka_unit_test(test_no_two_are_equal),
        cmocka_unit_test(test_later_ones_sort_later),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_what_is_no_uuid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
