/* Phone numbers as people write them, and the one form in which they are kept. */
#include "base/phone.h"
#include "test.h"

static const struct {
    const char *text, *kept; /* kept NULL: refused */
} rows[] = {
    {"+821012345678", "+821012345678"},
    {"010-1234-5678", "+821012345678"},
    {"01012345678", "+821012345678"},
    {"010 1234 5678", "+821012345678"},
    {"010.1234.5678", "+821012345678"},
    {"(02) 123-4567", "+8221234567"},
    {"02-1234-5678", "+82212345678"},
    {"031-123-4567", "+82311234567"},
    {"  010-1234-5678  ", "+821012345678"},
    {"+82 10-1234-5678", "+821012345678"},
    {"+1 (415) 555-2671", "+14155552671"},
    {"+12345678", "+12345678"},
    {"+123456789012345", "+123456789012345"},

    {"", NULL},
    {"+", NULL},
    {"-", NULL},
    {"+1234567", NULL},          /* seven digits */
    {"+1234567890123456", NULL}, /* sixteen */
    {"+0821012345678", NULL},    /* no country begins with 0 */
    {"1012345678", NULL},        /* neither + nor 0 */
    {"00821012345678", NULL},
    {"001-1234-5678", NULL},
    {"02-123-456", NULL},     /* eight digits */
    {"010-1234-56789", NULL}, /* twelve */
    {"010-1234-567a", NULL},
    {"010-1234-5678 ext 9", NULL},
    {"010+12345678", NULL},
    {"++821012345678", NULL},
    {"010/1234/5678", NULL},
    {"010\t1234\t5678", NULL},
    {"\xef\xbc\x90\xef\xbc\x91\xef\xbc\x90", NULL}, /* full-width digits */
    {"'; DROP TABLE claims; --", NULL},
};

static void test_table(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str phone = STR("");
        bool understood = phone_to_e164(&arena, str_from(rows[i].text), &phone);
        if (understood != (rows[i].kept != NULL) || (understood && !str_eq(phone, str_from(rows[i].kept))))
            fail_msg("\"%s\" became \"%.*s\", not \"%s\"", rows[i].text, STR_ARG(phone),
                     rows[i].kept ? rows[i].kept : "(refused)");
    }
    arena_free(&arena);
}

/* A number is bytes with a length: what follows it in memory does not belong to it. */
static void test_reads_no_further_than_its_length(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct str phone;
    assert_true(phone_to_e164(&arena, str_make("010123456789999", 11), &phone));
    assert_str_equal(phone, STR("+821012345678"));
    assert_false(phone_to_e164(&arena, str_make("01012345678", 8), &phone));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_reads_no_further_than_its_length),
    };
    return cmocka_run_group_tests_name("phone", tests, NULL, NULL);
}
