#include "http/url.h"
#include "test.h"

#include <stdio.h>

static struct arena arena;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void test_decode(void **state)
{
    (void)state;
    static const struct {
        struct str encoded, plain, with_plus;
    } cases[] = {
        {STR_INIT(""), STR_INIT(""), STR_INIT("")},
        {STR_INIT("abc"), STR_INIT("abc"), STR_INIT("abc")},
        {STR_INIT("a%20b+c"), STR_INIT("a b+c"), STR_INIT("a b c")},
        {STR_INIT("%2B%2b"), STR_INIT("++"), STR_INIT("++")},
        {STR_INIT("%EC%84%9C%EC%9A%B8"), STR_INIT("서울"), STR_INIT("서울")},
        {STR_INIT("서울"), STR_INIT("서울"), STR_INIT("서울")},
        {STR_INIT("%2541"), STR_INIT("%41"), STR_INIT("%41")}, /* decoded once, not twice */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str decoded;
        assert_true(url_decode(&arena, cases[i].encoded, false, &decoded));
        assert_str_equal(decoded, cases[i].plain);
        assert_true(url_decode(&arena, cases[i].encoded, true, &decoded));
        assert_str_equal(decoded, cases[i].with_plus);
    }
}

static void test_decode_refuses(void **state)
{
    (void)state;
    static const struct str cases[] = {
        STR_INIT("%"),    STR_INIT("%4"),     STR_INIT("a%4"),       STR_INIT("%g0"),    STR_INIT("%0g"),
        STR_INIT("%%41"), STR_INIT("%-1"),    STR_INIT("%00"),       STR_INIT("a\0b"),   STR_INIT("%ff"),
        STR_INIT("\xff"), STR_INIT("%C0%AF"), STR_INIT("%ED%A0%80"), STR_INIT("%EC%84"),
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct str decoded;
        if (url_decode(&arena, cases[i], true, &decoded))
            fail_msg("accepted %.*s", STR_ARG(cases[i]));
    }
}

static void test_plain_paths(void **state)
{
    (void)state;
    static const struct str plain[] = {
        STR_INIT("/"),
        STR_INIT("/a"),
        STR_INIT("/a/b/"),
        STR_INIT("/a.b"),
        STR_INIT("/.well-known/x"),
        STR_INIT("/..."),
        STR_INIT("/a../b"),
        STR_INIT("/..a"),
        STR_INIT("/a%20b"),
        STR_INIT("/%2e%2ea"),
        STR_INIT("/%EC%84%9C"),
        STR_INIT("/a/.../"),
        STR_INIT("/%25%32%65"),
    };
    static const struct str others[] = {
        STR_INIT(""),         STR_INIT("a"),         STR_INIT("*"),         STR_INIT("//"),       STR_INIT("//a"),
        STR_INIT("/a//b"),    STR_INIT("/a//"),      STR_INIT("/."),        STR_INIT("/.."),      STR_INIT("/./a"),
        STR_INIT("/../a"),    STR_INIT("/a/."),      STR_INIT("/a/.."),     STR_INIT("/a/./b"),   STR_INIT("/a/../b"),
        STR_INIT("/a/%2e"),   STR_INIT("/%2E%2e/a"), STR_INIT("/a/.%2e/b"), STR_INIT("/a/%2e./"), STR_INIT("/a%2fb"),
        STR_INIT("/a%2Fb"),   STR_INIT("/a%5cb"),    STR_INIT("/a%5Cb"),    STR_INIT("/a\\b"),    STR_INIT("/a%00b"),
        STR_INIT("/a%0d%0a"), STR_INIT("/a\nb"),     STR_INIT("/a\0b"),     STR_INIT("/%7f"),     STR_INIT("/%"),
        STR_INIT("/%a"),      STR_INIT("/%zz"),
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (!url_path_is_plain(plain[i]))
            fail_msg("refused %.*s", STR_ARG(plain[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (url_path_is_plain(others[i]))
            fail_msg("accepted %.*s", STR_ARG(others[i]));
}

static void test_query(void **state)
{
    (void)state;
    struct url_param params[URL_PARAMS_MAX];
    size_t count;
    assert_int_equal(url_parse_query(&arena, STR("a=1&&b=x%3Dy+z&flag&c=p=q&d="), params, &count), URL_QUERY_READ);
    assert_int_equal(count, 5);
    assert_str_equal(params[0].name, STR("a"));
    assert_str_equal(params[0].value, STR("1"));
    assert_str_equal(params[1].value, STR("x=y z"));
    assert_str_equal(params[2].name, STR("flag"));
    assert_str_equal(params[2].value, STR(""));
    assert_str_equal(params[3].value, STR("p=q"));
    assert_str_equal(params[4].value, STR(""));

    assert_int_equal(url_parse_query(&arena, STR(""), params, &count), URL_QUERY_READ);
    assert_int_equal(count, 0);
    assert_int_equal(url_parse_query(&arena, str_make(NULL, 0), params, &count), URL_QUERY_READ);
    assert_int_equal(count, 0);
    static const struct {
        struct str query;
        enum url_query outcome;
    } others[] = {
        {STR_INIT("a=1&a=2"), URL_QUERY_TWICE},   {STR_INIT("a=1&%61=2"), URL_QUERY_TWICE}, /* once decoded */
        {STR_INIT("a&b=1&a"), URL_QUERY_TWICE},   {STR_INIT("a=%"), URL_QUERY_BAD_TEXT},
        {STR_INIT("%x=1"), URL_QUERY_BAD_TEXT},   {STR_INIT("a=1&b=caf%E9"), URL_QUERY_BAD_TEXT},
        {STR_INIT("b%00=1"), URL_QUERY_BAD_TEXT},
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(url_parse_query(&arena, others[i].query, params, &count), others[i].outcome);
}

static void test_query_is_bounded(void **state)
{
    (void)state;
    struct buf query = BUF_INIT(4096);
    struct url_param params[URL_PARAMS_MAX];
    size_t count;
    for (int i = 0; i < URL_PARAMS_MAX; i++)
        buf_add_format(&query, "p%d=%d&", i, i);
    assert_int_equal(url_parse_query(&arena, buf_str(&query), params, &count), URL_QUERY_READ);
    assert_int_equal(count, URL_PARAMS_MAX);
    buf_add(&query, STR("more"));
    assert_int_equal(url_parse_query(&arena, buf_str(&query), params, &count), URL_QUERY_TOO_MANY);
    buf_free(&query);
}

static void test_encode(void **state)
{
    (void)state;
    char all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    struct buf out = BUF_INIT(4096);
    url_encode(&out, STR("aZ09-._~ /?&=+%\n서"));
    assert_str_equal(buf_str(&out), STR("aZ09-._~%20%2F%3F%26%3D%2B%25%0A%EC%84%9C"));

    buf_clear(&out);
    url_encode(&out, str_make(all + 1, 127)); /* what was encoded decodes to itself */
    struct str back;
    assert_true(url_decode(&arena, buf_str(&out), true, &back));
    assert_str_equal(back, str_make(all + 1, 127));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_decode, setup, teardown),
        cmocka_unit_test_setup_teardown(test_decode_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_plain_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_query, setup, teardown),
        cmocka_unit_test_setup_teardown(test_query_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_encode, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
