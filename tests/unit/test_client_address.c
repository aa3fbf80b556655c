/* 6.6.6.6 is what a client makes up, 5.5.5.5 the client that the outermost trusted proxy has seen. The proxies of the
 * project have 10.* and fd00::*. */
#include "http/client_address.h"
#include "test.h"

#define PROXIES "10.0.0.0/8, fd00::/8"

static const struct {
    const char *what, *trusted, *peer, *forwarded, *client;
} rows[] = {
    {"no proxy, no header", "", "5.5.5.5", NULL, "5.5.5.5"},
    {"no proxy, spoofed", "", "5.5.5.5", "6.6.6.6", "5.5.5.5"},
    {"no trusted proxy, the peer looks like one", "", "10.0.0.1", "6.6.6.6", "10.0.0.1"},
    {"past the proxy, spoofed", PROXIES, "5.5.5.5", "6.6.6.6", "5.5.5.5"},
    {"past the proxy, a proxy's address spoofed", PROXIES, "5.5.5.5", "6.6.6.6, 10.0.0.1", "5.5.5.5"},

    {"one hop", PROXIES, "10.0.0.1", "5.5.5.5", "5.5.5.5"},
    {"one hop, no header", PROXIES, "10.0.0.1", NULL, "10.0.0.1"},
    {"one hop, empty header", PROXIES, "10.0.0.1", "", "10.0.0.1"},
    {"one hop, spoofed", PROXIES, "10.0.0.1", "6.6.6.6, 5.5.5.5", "5.5.5.5"},
    {"one hop, spoofed as a proxy", PROXIES, "10.0.0.1", "6.6.6.6, 10.0.0.9, 5.5.5.5", "5.5.5.5"},
    {"one hop, spoofed at length", PROXIES, "10.0.0.1", "1.1.1.1,2.2.2.2,3.3.3.3,4.4.4.4,5.5.5.5", "5.5.5.5"},
    {"one hop, garbage spoofed", PROXIES, "10.0.0.1", "\"<x>, unknown,, 5.5.5.5", "5.5.5.5"},
    {"one hop by IPv6", PROXIES, "fd00::1", "2001:db8::5", "2001:db8::5"},
    {"one hop, all trusted", PROXIES, "10.0.0.1", "10.0.0.7", "10.0.0.7"},

    {"two hops", PROXIES, "10.0.0.1", "5.5.5.5, 10.0.0.2", "5.5.5.5"},
    {"two hops, spoofed", PROXIES, "10.0.0.1", "6.6.6.6, 5.5.5.5, 10.0.0.2", "5.5.5.5"},
    {"two hops, past the outer one", PROXIES, "10.0.0.1", "6.6.6.6, 5.5.5.5", "5.5.5.5"},
    {"two hops, the mapped form", PROXIES, "10.0.0.1", "5.5.5.5, ::ffff:10.0.0.2", "5.5.5.5"},
    {"two hops, all trusted: the leftmost", PROXIES, "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"},
    {"two hops, the inner one only is trusted", "10.0.0.1", "10.0.0.1", "6.6.6.6, 10.0.0.2", "10.0.0.2"},

    {"garbage beside the peer", PROXIES, "10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"},
    {"garbage beside the outer proxy", PROXIES, "10.0.0.1", "6.6.6.6, unknown, 10.0.0.2", "10.0.0.2"},
    {"nothing beside the peer", PROXIES, "10.0.0.1", "6.6.6.6,", "10.0.0.1"},
    {"a host name", PROXIES, "10.0.0.1", "6.6.6.6, example.com", "10.0.0.1"},
    {"too many parts", PROXIES, "10.0.0.1", "6.6.6.6, 5.5.5.5.5", "10.0.0.1"},
    {"an open bracket", PROXIES, "10.0.0.1", "6.6.6.6, [::1", "10.0.0.1"},
    {"empty brackets", PROXIES, "10.0.0.1", "6.6.6.6, []", "10.0.0.1"},
    {"a port alone", PROXIES, "10.0.0.1", "6.6.6.6, :80", "10.0.0.1"},

    {"a port", PROXIES, "10.0.0.1", "5.5.5.5:8080", "5.5.5.5"},
    {"a port at a proxy", PROXIES, "10.0.0.1", "5.5.5.5:1, 10.0.0.2:443", "5.5.5.5"},
    {"brackets", PROXIES, "10.0.0.1", "[2001:db8::5]", "2001:db8::5"},
    {"brackets and a port", PROXIES, "10.0.0.1", "[2001:db8::5]:8080", "2001:db8::5"},
    {"brackets at a proxy", PROXIES, "10.0.0.1", "5.5.5.5, [fd00::2]:443", "5.5.5.5"},
    {"a client in the mapped form is the same client", PROXIES, "10.0.0.1", "::ffff:5.5.5.5", "5.5.5.5"},
    {"blanks and tabs", PROXIES, "10.0.0.1", " 6.6.6.6 ,\t5.5.5.5\t, 10.0.0.2 ", "5.5.5.5"},
};

static struct hop hop_of(const char *text)
{
    struct hop hop = {.text = str_from(text)};
    assert_true(cidr_parse_address(hop.text, &hop.address));
    return hop;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cidr_list trusted;
        assert_true(cidr_parse_list(str_from(rows[i].trusted), &trusted));
        struct http_head head = {.header_count = rows[i].forwarded ? 1 : 0};
        head.headers[0] = (struct http_header){STR("X-Forwarded-For"), str_from(rows[i].forwarded)};
        struct str client = client_address(hop_of(rows[i].peer), &head, &trusted);
        if (!str_eq(client, str_from(rows[i].client)))
            fail_msg("%s: %.*s instead of %s", rows[i].what, STR_ARG(client), rows[i].client);
    }
}

/* Proxies may add a line instead of adding to the line that is there. */
static void test_several_headers_are_one_list(void **state)
{
    (void)state;
    static const struct {
        const char *lines[3], *client;
    } splits[] = {
        {{"6.6.6.6", "5.5.5.5", "10.0.0.2"}, "5.5.5.5"},
        {{"6.6.6.6, 5.5.5.5", "10.0.0.2", NULL}, "5.5.5.5"},
        {{"6.6.6.6", "unknown", NULL}, "10.0.0.1"},
        {{"6.6.6.6", "unknown", "10.0.0.2"}, "10.0.0.2"},
        {{"6.6.6.6", "", NULL}, "10.0.0.1"},
        {{"10.0.0.3", "10.0.0.2", NULL}, "10.0.0.3"},
        {{"6.6.6.6", "5.5.5.5", NULL}, "5.5.5.5"},
        {{NULL}, "10.0.0.1"},
    };
    struct cidr_list trusted;
    assert_true(cidr_parse_list(STR(PROXIES), &trusted));
    for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
        struct http_head head = {0};
        for (size_t k = 0; k < 3 && splits[i].lines[k]; k++) {
            head.headers[head.header_count++] =
                (struct http_header){STR("x-forwarded-for"), str_from(splits[i].lines[k])};
            head.headers[head.header_count++] = (struct http_header){STR("X-Other"), STR("7.7.7.7")};
        }
        struct str client = client_address(hop_of("10.0.0.1"), &head, &trusted);
        if (!str_eq(client, str_from(splits[i].client)))
            fail_msg("%zu: %.*s instead of %s", i, STR_ARG(client), splits[i].client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_several_headers_are_one_list),
    };
    return cmocka_run_group_tests_name("client address", tests, NULL, NULL);
}
