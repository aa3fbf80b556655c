#include "base/str.h"
#include "test.h"

static const struct str none = {NULL, 0};

static void test_equality(void **state)
{
    (void)state;
    assert_true(str_eq(STR("abc"), str_from("abc")));
    assert_true(str_eq(STR("a\0b"), str_make("a\0b", 3)));
    assert_false(str_eq(STR("a\0b"), STR("a\0c")));
    assert_false(str_eq(STR("abc"), STR("ab")));
    assert_true(str_eq(none, STR("")));
    assert_true(str_eq(str_from(NULL), none));
    assert_true(str_ieq(STR("Content-LENGTH"), STR("content-length")));
    assert_true(str_ieq(STR("X-Forwarded-For"), STR("X-Forwarded-For")));
    assert_true(str_ieq(STR("x-forwarded-For"), STR("X-Forwarded-fOR")));
    assert_false(str_ieq(STR("X-Forwarded-Foo"), STR("X-Forwarded-For")));
    assert_false(str_ieq(STR("X-Forwarder-For"), STR("X-Forwarded-For")));
    assert_false(str_ieq(STR("a"), STR("ab")));
    assert_false(str_ieq(STR("@["), STR("`{"))); /* next to the letters, but none */
    assert_false(str_ieq(STR("\xc3\x89"), STR("\xc3\xa9")));
    assert_true(str_eq_secret(STR("token"), STR("token")));
    assert_false(str_eq_secret(STR("token"), STR("tokem")));
    assert_false(str_eq_secret(STR("token"), STR("toke")));
    assert_true(str_eq_secret(none, none));
    char one[20] = "nineteen characters", other[20];
    for (size_t i = 0; i + 1 < sizeof(one); i++) {
        memcpy(other, one, sizeof(one));
        assert_true(str_eq_secret(str_from(one), str_from(other)));
        other[i] ^= (char)0x80;
        assert_false(str_eq_secret(str_from(one), str_from(other)));
    }
}

static void test_order(void **state)
{
    (void)state;
    assert_true(str_compare(STR("a"), STR("b")) < 0);
    assert_true(str_compare(STR("b"), STR("a")) > 0);
    assert_true(str_compare(STR("a"), STR("ab")) < 0);
    assert_true(str_compare(STR("ab"), STR("a")) > 0);
    assert_int_equal(str_compare(STR("ab"), STR("ab")), 0);
    assert_int_equal(str_compare(none, STR("")), 0);
    assert_true(str_compare(STR("\x7f"), STR("\x80")) < 0); /* bytes, not signed chars */
}

static void test_parts(void **state)
{
    (void)state;
    assert_true(str_starts(STR("abc"), STR("ab")));
    assert_true(str_starts(STR("abc"), STR("")));
    assert_false(str_starts(STR("ab"), STR("abc")));
    assert_str_equal(str_from_offset(STR("abc"), 1), STR("bc"));
    assert_str_equal(str_from_offset(STR("abc"), 3), STR(""));
    assert_str_equal(str_from_offset(STR("abc"), 99), STR(""));
    assert_str_equal(str_first(STR("abc"), 2), STR("ab"));
    assert_str_equal(str_first(STR("abc"), 99), STR("abc"));
    assert_int_equal(str_find_char(STR("abcb"), 'b'), 1);
    assert_int_equal(str_find_char(STR("abc"), 'd'), -1);
    assert_int_equal(str_find_char(none, 'a'), -1);
    assert_true(str_contains(STR("abcd"), STR("bc")));
    assert_true(str_contains(STR("abcd"), STR("abcd")));
    assert_true(str_contains(none, STR("")));
    assert_false(str_contains(STR("abc"), STR("abcd")));
    assert_false(str_contains(STR("aab"), STR("ba")));
    assert_str_equal(str_trim(STR(" \t a b\t ")), STR("a b"));
    assert_str_equal(str_trim(STR(" \t ")), STR(""));
    assert_str_equal(str_trim(STR("\na")), STR("\na"));
    assert_str_equal(str_trim(none), STR(""));
}

static void test_split(void **state)
{
    (void)state;
    static const struct {
        struct str list;
        size_t count;
        struct str items[4];
    } cases[] = {
        {STR_INIT("a"), 1, {STR_INIT("a")}},
        {STR_INIT("a,b"), 2, {STR_INIT("a"), STR_INIT("b")}},
        {STR_INIT(",a,"), 3, {STR_INIT(""), STR_INIT("a"), STR_INIT("")}},
        {STR_INIT(""), 1, {STR_INIT("")}},
        {{NULL, 0}, 0, {{NULL, 0}}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str rest = cases[i].list, item;
        size_t count = 0;
        while (str_split(&rest, ',', &item)) {
            assert_true(count < cases[i].count);
            assert_str_equal(item, cases[i].items[count++]);
        }
        assert_int_equal(count, cases[i].count);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    uint64_t u;
    int64_t i;
    assert_true(str_to_uint64(STR("0"), &u) && u == 0);
    assert_true(str_to_uint64(STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(str_to_uint64(STR("000000000000000000000007"), &u) && u == 7);
    assert_true(str_to_int64(STR("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(str_to_int64(STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(str_to_int64(STR("-0"), &i) && i == 0);

    static const struct str bad[] = {
        STR_INIT(""),
        STR_INIT("-"),
        STR_INIT("+1"),
        STR_INIT(" 1"),
        STR_INIT("1 "),
        STR_INIT("1.0"),
        STR_INIT("0x1"),
        STR_INIT("1\0"),
        STR_INIT("--1"),
        STR_INIT("1e3"),
        STR_INIT("18446744073709551616"),
        STR_INIT("99999999999999999999999"),
    };
    for (size_t n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
        if (str_to_uint64(bad[n], &u) || str_to_int64(bad[n], &i))
            fail_msg("accepted '%.*s'", STR_ARG(bad[n]));
    }
    assert_false(str_to_uint64(STR("-1"), &u));
    assert_false(str_to_int64(STR("9223372036854775808"), &i));
    assert_false(str_to_int64(STR("-9223372036854775809"), &i));
}

/* Every two-byte string against the rule, then the edges of the longer forms. */
static void test_utf8(void **state)
{
    (void)state;
    for (int first = 0; first < 256; first++)
        for (int second = 0; second < 256; second++) {
            char pair[] = {(char)first, (char)second};
            bool good =
                (first < 0x80 && second < 0x80) || (first >= 0xC2 && first < 0xE0 && second >= 0x80 && second < 0xC0);
            assert_int_equal(str_is_utf8(str_make(pair, 2)), good);
        }
    static const struct {
        struct str text;
        bool good;
    } cases[] = {
        {STR_INIT(""), true},
        {STR_INIT("a서\xf0\x9f\x8e\xab"), true},
        {STR_INIT("\xe0\xa0\x80"), true},
        {STR_INIT("\xe0\x9f\xbf"), false}, /* overlong */
        {STR_INIT("\xed\x9f\xbf"), true},
        {STR_INIT("\xed\xa0\x80"), false}, /* surrogate */
        {STR_INIT("\xef\xbf\xbf"), true},
        {STR_INIT("\xf0\x90\x80\x80"), true},
        {STR_INIT("\xf0\x8f\xbf\xbf"), false}, /* overlong */
        {STR_INIT("\xf4\x8f\xbf\xbf"), true},
        {STR_INIT("\xf4\x90\x80\x80"), false}, /* above U+10FFFF */
        {STR_INIT("\xec\x84"), false},
        {STR_INIT("\xec\x84"
                  "a"),
         false},
        {STR_INIT("\xf0\x9f\x8e"), false},
        {STR_INIT("\xf5\x80\x80\x80"), false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(str_is_utf8(cases[i].text), cases[i].good);
}

/* ASCII is skipped in steps: a wrong byte is found, and a right character passed, wherever it stands. */
static void test_utf8_among_ascii(void **state)
{
    (void)state;
    char text[80];
    for (size_t length = 3; length < sizeof(text); length++)
        for (size_t at = 0; at + 3 <= length; at++) {
            memset(text, 'a', sizeof(text));
            memcpy(text + at, "서", 3);
            assert_true(str_is_utf8(str_make(text, length)));
            text[at + 2] = 'a';
            assert_false(str_is_utf8(str_make(text, length)));
        }
}

/* Not a proof, but a hash that forgets bytes or has poor low bits would fail. */
static void test_hash_spreads(void **state)
{
    (void)state;
    unsigned counts[64] = {0};
    for (unsigned i = 0; i < 6400; i++) {
        char text[] = {'k', (char)(i & 0x7f), (char)(i >> 7)};
        counts[str_hash(str_make(text, 3)) % 64]++;
    }
    for (int i = 0; i < 64; i++)
        assert_in_range(counts[i], 50, 160);
    assert_true(str_hash(STR("ab")) != str_hash(STR("ba")));
    assert_true(str_hash(STR("")) != str_hash(STR("\0")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equality),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_utf8_among_ascii),
        cmocka_unit_test(test_hash_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
