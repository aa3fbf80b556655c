/* Where the token is found, and which requests with cookies are believed to come from our own pages. */
#include "filter_scene.h"

static struct filter_scene scene;

static int set_up(void **state)
{
    (void)state;
    scene_open(&scene);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

static void test_token(void **state)
{
    (void)state;
    static const struct {
        const char *headers, *token; /* NULL: none */
        bool by_cookie;
    } rows[] = {
        {"", NULL, false},
        {"Authorization: Bearer abc\r\n", "abc", false},
        {"Authorization: bEARER   abc\r\n", "abc", false},
        {"Authorization: Bearer\r\n", NULL, false},
        {"Authorization: Basic abc\r\n", NULL, false},
        {"Cookie: access_token=abc\r\n", "abc", true},
        {"Cookie: theme=dark; access_token=abc; x=y\r\n", "abc", true},
        {"Cookie: theme=dark\r\nCookie: access_token=abc\r\n", "abc", true},
        {"Cookie: access_token=a=b\r\n", "a=b", true},
        {"Cookie: access_token=\r\n", "", true},
        {"Cookie: access_token=first; access_token=second\r\n", "first", true},
        {"Cookie: Access_Token=abc\r\n", NULL, false},
        {"Cookie: access_token\r\n", NULL, false},
        {"Cookie: my_access_token=abc\r\n", NULL, false},
        {"Authorization: Bearer abc\r\nCookie: access_token=other\r\n", "abc", false},
        {"Authorization: Basic abc\r\nCookie: access_token=other\r\n", NULL, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        scene_request(&scene, HTTP_GET, "/", rows[i].headers);
        assert_admits(&scene, filter_cookie);
        struct str token = scene.rq.identity.token;
        if ((token.ptr != NULL) != (rows[i].token != NULL) || !str_eq(token, str_from(rows[i].token)) ||
            scene.rq.identity.by_cookie != rows[i].by_cookie)
            fail_msg("%s: '%.*s'", rows[i].headers, STR_ARG(token));
    }
}

#define COOKIE "Cookie: access_token=abc\r\n"

static void test_other_sites(void **state)
{
    (void)state;
    static const struct {
        enum http_method method;
        const char *headers;
        bool admitted;
    } rows[] = {
        {HTTP_GET, COOKIE, true},
        {HTTP_HEAD, COOKIE "Origin: https://evil.example\r\n", true},
        {HTTP_POST, COOKIE, false},
        {HTTP_PUT, COOKIE, false},
        {HTTP_PATCH, COOKIE, false},
        {HTTP_DELETE, COOKIE, false},
        {HTTP_POST, COOKIE "Origin: https://shop.example\r\n", true},
        {HTTP_POST, COOKIE "Origin: http://shop.example\r\n", true},
        {HTTP_POST, COOKIE "Origin: https://SHOP.example\r\n", true},
        {HTTP_POST, COOKIE "Origin: https://shop.example:8443\r\n", false},
        {HTTP_POST, COOKIE "Origin: https://shop.example.evil.example\r\n", false},
        {HTTP_POST, COOKIE "Origin: https://evil.example\r\n", false},
        {HTTP_POST, COOKIE "Origin: null\r\n", false},
        {HTTP_POST, COOKIE "Origin:\r\n", false},
        {HTTP_POST, COOKIE "Origin: shop.example\r\n", false},
        {HTTP_POST, COOKIE "Origin: ftp://shop.example\r\n", false},
        {HTTP_POST, COOKIE "Referer: https://shop.example/page\r\n", false},
        {HTTP_POST, COOKIE "Sec-Fetch-Site: same-origin\r\n", true},
        {HTTP_POST, COOKIE "Sec-Fetch-Site: same-site\r\n", false},
        {HTTP_POST, COOKIE "Sec-Fetch-Site: cross-site\r\n", false},
        {HTTP_POST, COOKIE "Sec-Fetch-Site: none\r\n", false},
        {HTTP_POST, COOKIE "Sec-Fetch-Site: cross-site\r\nOrigin: https://shop.example\r\n", false},
        {HTTP_POST, "Cookie: refresh_token=abc\r\n", false},
        {HTTP_POST, "Cookie: refresh_token=abc\r\nOrigin: https://shop.example\r\n", true},
        {HTTP_POST, "Cookie: guest=abc\r\n", false},
        {HTTP_DELETE, "Cookie: guest=abc\r\nOrigin: https://evil.example\r\n", false},
        {HTTP_POST, "Cookie: guest=abc\r\nOrigin: https://shop.example\r\n", true},
        {HTTP_POST, "Cookie: theme=dark\r\n", true}, /* not signed in by it */
        {HTTP_POST, "", true},
        {HTTP_POST, COOKIE "Authorization: Bearer abc\r\n", true}, /* no page of another site can send that */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        scene_request(&scene, rows[i].method, "/", rows[i].headers);
        print_message("%s", rows[i].headers);
        if (rows[i].admitted)
            assert_admits(&scene, filter_cookie);
        else
            assert_refuses(&scene, filter_cookie, ERR_CSRF);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_token), cmocka_unit_test(test_other_sites)};
    return cmocka_run_group_tests_name("filter: cookie", tests, set_up, tear_down);
}
