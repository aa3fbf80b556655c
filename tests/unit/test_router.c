/* Which route a path finds: parameters, the rest of a path, precedence, the alias /api/x, methods. */
#include "http/router.h"
#include "test.h"

#include <stdio.h>

static void handle(struct request *rq)
{
    (void)rq;
}

#define GET(text)                                                                                                      \
    {                                                                                                                  \
        .method = HTTP_GET, .path = text, .handle = handle                                                             \
    }
#define METHOD(name, text)                                                                                             \
    {                                                                                                                  \
        .method = HTTP_##name, .path = text, .handle = handle                                                          \
    }

static const struct route pages[] = {
    GET("/"),
    GET("/healthz"),
    GET("/static/{*}"),
};

static const struct route api[] = {
    GET("/api/v1/seats"),
    GET("/api/v1/seats/stream"),
    GET("/api/v1/seats/{id}"),
    METHOD(DELETE, "/api/v1/seats/{id}"),
    METHOD(POST, "/api/v1/seats/reservation"),
    METHOD(POST, "/api/v1/shows/{show}/seats/{seat}/holds/{hold}"),
    GET("/api/v1/shows/featured/seats"),
    GET("/api/v1/shows/{show}/reviews"),
    GET("/api/v1/shows/{show}/{*}"),
    METHOD(HEAD, "/api/v1/own-head"),
    GET("/api/v1/own-head"),
    GET("/api/status"),
    GET("/api/v1/status"),
};

enum { PAGES = sizeof(pages) / sizeof(pages[0]), ROUTES = PAGES + sizeof(api) / sizeof(api[0]) };

static struct router *router;

static int set_up(void **state)
{
    (void)state;
    router = router_create();
    router_add(router, pages, PAGES);
    router_add(router, api, ROUTES - PAGES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    router_destroy(router);
    return 0;
}

/* The parameters as one text: "a|b". */
static const char *params_of(const struct route_match *match, char text[256])
{
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < match->param_count; i++)
        length += (size_t)snprintf(text + length, 256 - length, "%s%.*s", i ? "|" : "", STR_ARG(match->params[i]));
    return text;
}

static const struct {
    const char *path, *route, *params; /* route NULL: none */
} rows[] = {
    {"/", "/", ""},
    {"/healthz", "/healthz", ""},
    {"/healthz/", NULL, ""},
    {"/health", NULL, ""},
    {"/healthz0", NULL, ""},
    {"/Healthz", NULL, ""},
    {"/healthz/more", NULL, ""},
    {"//", NULL, ""},

    {"/static/app.js", "/static/{*}", "app.js"},
    {"/static/a/b/c.js", "/static/{*}", "a/b/c.js"},
    {"/static/", "/static/{*}", ""},
    {"/static", NULL, ""},

    {"/api/v1/seats", "/api/v1/seats", ""},
    {"/api/v1/seats/", NULL, ""}, /* a parameter is never empty */
    {"/api/v1/seats/17", "/api/v1/seats/{id}", "17"},
    {"/api/v1/seats/%2F", "/api/v1/seats/{id}", "%2F"}, /* decoded later, so it cannot make a segment */
    {"/api/v1/seats/17/", NULL, ""},
    {"/api/v1/seats/17/18", NULL, ""},

    /* A fixed segment goes before a parameter, a parameter before the rest. */
    {"/api/v1/seats/stream", "/api/v1/seats/stream", ""},
    {"/api/v1/seats/streams", "/api/v1/seats/{id}", "streams"},
    {"/api/v1/shows/featured/seats", "/api/v1/shows/featured/seats", ""},
    {"/api/v1/shows/7/reviews", "/api/v1/shows/{show}/reviews", "7"},
    {"/api/v1/shows/7/reviews/9", "/api/v1/shows/{show}/{*}", "7|reviews/9"},
    {"/api/v1/shows/7/posters/a.png", "/api/v1/shows/{show}/{*}", "7|posters/a.png"},
    /* The fixed way has no end here: back, and the other way. */
    {"/api/v1/shows/featured/reviews", "/api/v1/shows/{show}/reviews", "featured"},
    {"/api/v1/shows/featured/seats/1", "/api/v1/shows/{show}/{*}", "featured|seats/1"},

    /* /api/x is /api/v1/x, unless it is a route itself. */
    {"/api/seats", "/api/v1/seats", ""},
    {"/api/seats/17", "/api/v1/seats/{id}", "17"},
    {"/api/shows/7/reviews", "/api/v1/shows/{show}/reviews", "7"},
    {"/api/status", "/api/status", ""},
    {"/api/v1/status", "/api/v1/status", ""},
    {"/api/v1/v1/seats", NULL, ""},
    {"/api/v2/seats", NULL, ""},
    {"/api/", NULL, ""},
    {"/api", NULL, ""},
    {"/apis/seats", NULL, ""},
};

static void test_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char params[256];
        struct route_match match = router_match(router, HTTP_GET, str_from(rows[i].path));
        const char *route = match.route ? match.route->path : NULL;
        bool right = rows[i].route ? route && strcmp(route, rows[i].route) == 0 : !route && match.methods == 0;
        if (!right)
            fail_msg("%s: found %s instead of %s", rows[i].path, route ? route : "nothing", rows[i].route);
        if (route && strcmp(params_of(&match, params), rows[i].params) != 0)
            fail_msg("%s: has the parameters %s instead of %s", rows[i].path, params, rows[i].params);
    }
}

static void test_parameters_in_order(void **state)
{
    (void)state;
    char params[256];
    struct route_match match = router_match(router, HTTP_POST, STR("/api/shows/hamlet/seats/12/holds/abc"));
    assert_non_null(match.route);
    assert_string_equal(params_of(&match, params), "hamlet|12|abc");
    assert_null(match.params[3].ptr);
}

static unsigned bits(bool get, bool post, bool delete)
{
    return (get ? 1u << HTTP_GET | 1u << HTTP_HEAD : 0) | (post ? 1u << HTTP_POST : 0) |
           (delete ? 1u << HTTP_DELETE : 0);
}

static void test_methods(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool get, post, delete;
    } paths[] = {
        {"/healthz", .get = true},
        {"/static/x", .get = true},
        {"/api/v1/seats/17", .get = true, .delete = true},
        {"/api/seats/17", .get = true, .delete = true},
        {"/api/v1/seats/reservation", .post = true},
        {"/api/v1/own-head", .get = true},
        {"/nowhere", .get = false},
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        unsigned expected = bits(paths[i].get, paths[i].post, paths[i].delete);
        for (enum http_method method = 0; method < HTTP_METHOD_COUNT; method++) {
            struct route_match match = router_match(router, method, str_from(paths[i].path));
            bool taken = expected & 1u << method;
            if (match.methods != expected || !match.route == taken)
                fail_msg("%s %s: route %d, methods %x instead of %x", http_method_name(method).ptr, paths[i].path,
                         match.route != NULL, match.methods, expected);
        }
    }
}

static void test_head_finds_get(void **state)
{
    (void)state;
    struct route_match borrowed = router_match(router, HTTP_HEAD, STR("/api/seats/17"));
    assert_int_equal(borrowed.route->method, HTTP_GET);
    assert_int_equal(borrowed.param_count, 1);
    assert_int_equal(router_match(router, HTTP_HEAD, STR("/api/v1/own-head")).route->method, HTTP_HEAD);
    assert_int_equal(router_match(router, HTTP_GET, STR("/api/v1/own-head")).route->method, HTTP_GET);
}

/* The number of a route stands for it in the metrics. */
static void test_numbers(void **state)
{
    (void)state;
    assert_int_equal(router_count(router), ROUTES);
    for (size_t i = 0; i < ROUTES; i++) {
        const struct route *given = i < PAGES ? &pages[i] : &api[i - PAGES];
        assert_int_equal(router_route(router, i)->index, i);
        assert_string_equal(router_route(router, i)->path, given->path);
    }
    assert_int_equal(router_match(router, HTTP_GET, STR("/healthz")).route->index, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths),   cmocka_unit_test(test_parameters_in_order),
        cmocka_unit_test(test_methods), cmocka_unit_test(test_head_finds_get),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
