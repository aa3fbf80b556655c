/* Heads of requests: what is read and what is refused, whole and however the bytes were split on their way. */
#include "base/random.h"
#include "http/head.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static const struct head_limits limits = {.line = 100, .headers = 1024};

/* What became of some bytes: the head, or why not. */
struct reading {
    enum head_outcome outcome;
    enum error error;
    size_t length;
    struct http_head head;
};

/* Bytes in memory of exactly their size, so that a sanitizer sees a read past their end. */
static struct str exact_copy(struct str s)
{
    char *copy = malloc(s.len ? s.len : 1);
    assert_non_null(copy);
    memcpy(copy, s.ptr, s.len);
    return str_make(copy, s.len);
}

static void finish(struct reading *reading, struct str bytes)
{
    if (reading->outcome != HEAD_COMPLETE)
        return;
    struct str copy = exact_copy(str_first(bytes, reading->length));
    if (!head_parse(copy, &reading->head, &reading->error))
        reading->outcome = HEAD_REFUSED;
    free((char *)copy.ptr);
    /* The strs must stay valid for the asserts: read again from the caller's bytes. */
    enum error error;
    if (reading->outcome == HEAD_COMPLETE)
        assert_true(head_parse(str_first(bytes, reading->length), &reading->head, &error));
}

/* Looks at the bytes up to each of the ends, the last of which is bytes.len. */
static struct reading read_in_parts(struct str bytes, const size_t *ends, size_t parts)
{
    struct head_scan scan = {0};
    struct reading reading = {.outcome = HEAD_MORE, .error = ERROR_COUNT};
    for (size_t i = 0; i < parts && reading.outcome == HEAD_MORE; i++) {
        struct str copy = exact_copy(str_first(bytes, ends[i]));
        reading.outcome = head_scan(&scan, copy, &limits, &reading.length, &reading.error);
        free((char *)copy.ptr);
    }
    finish(&reading, bytes);
    return reading;
}

static void assert_same(const char *what, const struct reading *a, const struct reading *b)
{
    if (a->outcome != b->outcome || a->error != b->error || a->length != b->length)
        fail_msg("%s: splitting changed outcome %d to %d, error %d to %d, length %zu to %zu", what, (int)a->outcome,
                 (int)b->outcome, (int)a->error, (int)b->error, a->length, b->length);
    if (a->outcome == HEAD_COMPLETE) {
        assert_int_equal(a->head.header_count, b->head.header_count);
        assert_str_equal(a->head.path, b->head.path);
    }
}

static struct reading read_every_way(const char *what, struct str bytes)
{
    struct reading whole = read_in_parts(bytes, &bytes.len, 1);
    for (size_t at = 0; at <= bytes.len; at++) {
        struct reading split = read_in_parts(bytes, (size_t[]){at, bytes.len}, 2);
        assert_same(what, &whole, &split);
    }
    for (int round = 0; round < 20; round++) {
        size_t ends[2048], parts = 0;
        for (size_t at = 0; at < bytes.len; ends[parts++] = at) {
            at += 1 + random_below(round ? 40 : 1); /* the first round: byte by byte */
            at = at < bytes.len ? at : bytes.len;
        }
        struct reading split = read_in_parts(bytes, ends, parts);
        assert_same(what, &whole, &split);
    }
    return whole;
}

#define GET_(headers) "GET / HTTP/1.1\r\nHost: a\r\n" headers "\r\n"
#define POST_(headers) "POST / HTTP/1.1\r\nHost: a\r\n" headers "\r\n"
#define LINE_(line) line "\r\nHost: a\r\n\r\n"
#define TARGET_(target) LINE_("GET " target " HTTP/1.1")
#define HOST_(value) "GET / HTTP/1.1\r\nHost:" value "\r\n\r\n"
#define TEN_(text) text text text text text text text text text text

static const struct {
    const char *what;
    struct str bytes;
    enum error error;
} refused[] = {
    {"bare LF after the request line", STR_INIT("GET / HTTP/1.1\nHost: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"bare LF after a header", STR_INIT("GET / HTTP/1.1\r\nHost: a\n\r\n"), ERR_BAD_REQUEST},
    {"bare LF as the empty line", STR_INIT("GET / HTTP/1.1\r\nHost: a\r\n\n"), ERR_BAD_REQUEST},
    {"bare LF first", STR_INIT("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"bare CR in a value", STR_INIT(GET_("A: b\rc\r\n")), ERR_BAD_REQUEST},
    {"bare CR in the request line", STR_INIT(LINE_("GET /\r HTTP/1.1")), ERR_BAD_REQUEST},
    {"CR CR LF", STR_INIT(GET_("A: b\r\r\n")), ERR_BAD_REQUEST},
    {"two empty lines first", STR_INIT("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"NUL in a value", STR_INIT(GET_("A: b\0c\r\n")), ERR_BAD_REQUEST},
    {"NUL in a name", STR_INIT(GET_("A\0: b\r\n")), ERR_BAD_REQUEST},
    {"NUL in the target", STR_INIT(TARGET_("/a\0b")), ERR_BAD_REQUEST},
    {"escape character in a value", STR_INIT(GET_("A: \x1b[2J\r\n")), ERR_BAD_REQUEST},
    {"DEL in a value", STR_INIT(GET_("A: \x7f\r\n")), ERR_BAD_REQUEST},
    {"vertical tab around a value", STR_INIT(GET_("Transfer-Encoding:\vchunked\r\n")), ERR_BAD_REQUEST},
    {"form feed in a name", STR_INIT(GET_("A\f: b\r\n")), ERR_BAD_REQUEST},
    {"a TLS hello", STR_INIT("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), ERR_BAD_REQUEST},

    {"blank before the colon", STR_INIT(GET_("A : b\r\n")), ERR_BAD_REQUEST},
    {"tab before the colon", STR_INIT(GET_("A\t: b\r\n")), ERR_BAD_REQUEST},
    {"blank before the colon of the length", STR_INIT(POST_("Content-Length : 5\r\n")), ERR_BAD_REQUEST},
    {"folded header", STR_INIT(GET_("A: b\r\n c\r\n")), ERR_BAD_REQUEST},
    {"folded with a tab", STR_INIT(GET_("A: b\r\n\tc: d\r\n")), ERR_BAD_REQUEST},
    {"blank before the first header", STR_INIT("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"line of blanks", STR_INIT(GET_("  \r\n")), ERR_BAD_REQUEST},
    {"empty name", STR_INIT(GET_(": b\r\n")), ERR_BAD_REQUEST},
    {"no colon", STR_INIT(GET_("A\r\n")), ERR_BAD_REQUEST},
    {"parenthesis in a name", STR_INIT(GET_("A(b): c\r\n")), ERR_BAD_REQUEST},
    {"quote in a name", STR_INIT(GET_("\"A\": c\r\n")), ERR_BAD_REQUEST},
    {"not ASCII in a name", STR_INIT(GET_("A\xc3\xa9: c\r\n")), ERR_BAD_REQUEST},

    {"length and chunked", STR_INIT(POST_("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")), ERR_BAD_REQUEST},
    {"chunked and length", STR_INIT(POST_("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")), ERR_BAD_REQUEST},
    {"chunked and length 0", STR_INIT(POST_("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")), ERR_BAD_REQUEST},
    {"two lengths", STR_INIT(POST_("Content-Length: 5\r\nContent-Length: 6\r\n")), ERR_BAD_REQUEST},
    {"two equal lengths", STR_INIT(POST_("Content-Length: 5\r\ncontent-length: 5\r\n")), ERR_BAD_REQUEST},
    {"list of equal lengths", STR_INIT(POST_("Content-Length: 5, 5\r\n")), ERR_BAD_REQUEST},
    {"empty length", STR_INIT(POST_("Content-Length:\r\n")), ERR_BAD_REQUEST},
    {"length +5", STR_INIT(POST_("Content-Length: +5\r\n")), ERR_BAD_REQUEST},
    {"length -5", STR_INIT(POST_("Content-Length: -5\r\n")), ERR_BAD_REQUEST},
    {"length 0x5", STR_INIT(POST_("Content-Length: 0x5\r\n")), ERR_BAD_REQUEST},
    {"length 5.0", STR_INIT(POST_("Content-Length: 5.0\r\n")), ERR_BAD_REQUEST},
    {"length 5 5", STR_INIT(POST_("Content-Length: 5 5\r\n")), ERR_BAD_REQUEST},
    {"length 2^63", STR_INIT(POST_("Content-Length: 9223372036854775808\r\n")), ERR_BAD_REQUEST},
    {"length 2^64 + 5", STR_INIT(POST_("Content-Length: 18446744073709551621\r\n")), ERR_BAD_REQUEST},
    {"length of 30 digits", STR_INIT(POST_("Content-Length: 100000000000000000000000000005\r\n")), ERR_BAD_REQUEST},

    {"encoding gzip, chunked", STR_INIT(POST_("Transfer-Encoding: gzip, chunked\r\n")), ERR_BAD_REQUEST},
    {"encoding chunked, identity", STR_INIT(POST_("Transfer-Encoding: chunked, identity\r\n")), ERR_BAD_REQUEST},
    {"encoding identity", STR_INIT(POST_("Transfer-Encoding: identity\r\n")), ERR_BAD_REQUEST},
    {"encoding xchunked", STR_INIT(POST_("Transfer-Encoding: xchunked\r\n")), ERR_BAD_REQUEST},
    {"encoding chunked;a=b", STR_INIT(POST_("Transfer-Encoding: chunked;a=b\r\n")), ERR_BAD_REQUEST},
    {"encoding \"chunked\"", STR_INIT(POST_("Transfer-Encoding: \"chunked\"\r\n")), ERR_BAD_REQUEST},
    {"encoding with a comma behind", STR_INIT(POST_("Transfer-Encoding: chunked,\r\n")), ERR_BAD_REQUEST},
    {"tab before the encoding", STR_INIT(POST_("Transfer-Encoding:\tchunked\r\n")), ERR_BAD_REQUEST},
    {"tab behind the encoding", STR_INIT(POST_("Transfer-Encoding: chunked\t\r\n")), ERR_BAD_REQUEST},
    {"tab before the length", STR_INIT(POST_("Content-Length:\t5\r\n")), ERR_BAD_REQUEST},
    {"tab behind the length", STR_INIT(POST_("Content-Length: 5\t\r\n")), ERR_BAD_REQUEST},
    {"tab behind the Host", STR_INIT(HOST_(" a\t")), ERR_BAD_REQUEST},
    {"empty encoding", STR_INIT(POST_("Transfer-Encoding:\r\n")), ERR_BAD_REQUEST},
    {"chunked twice", STR_INIT(POST_("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), ERR_BAD_REQUEST},
    {"chunked in 1.0", STR_INIT("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), ERR_BAD_REQUEST},

    {"no Host", STR_INIT("GET / HTTP/1.1\r\nA: b\r\n\r\n"), ERR_BAD_REQUEST},
    {"no header at all in 1.1", STR_INIT("GET / HTTP/1.1\r\n\r\n"), ERR_BAD_REQUEST},
    {"two Hosts", STR_INIT(GET_("Host: a\r\n")), ERR_BAD_REQUEST},
    {"two Hosts in 1.0", STR_INIT("GET / HTTP/1.0\r\nHost: a\r\nHOST: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"empty Host", STR_INIT(HOST_("")), ERR_BAD_REQUEST},
    {"Host with a blank", STR_INIT(HOST_(" a b")), ERR_BAD_REQUEST},
    {"Host list", STR_INIT(HOST_(" a,b")), ERR_BAD_REQUEST},
    {"Host with a slash", STR_INIT(HOST_(" a/b")), ERR_BAD_REQUEST},
    {"Host with a user", STR_INIT(HOST_(" me@a")), ERR_BAD_REQUEST},
    {"Host with a word for a port", STR_INIT(HOST_(" a:http")), ERR_BAD_REQUEST},
    {"Host with an empty port", STR_INIT(HOST_(" a:")), ERR_BAD_REQUEST},
    {"Host with a port above 65535", STR_INIT(HOST_(" a:65536")), ERR_BAD_REQUEST},
    {"Host with two ports", STR_INIT(HOST_(" a:1:2")), ERR_BAD_REQUEST},
    {"Host with only a port", STR_INIT(HOST_(" :80")), ERR_BAD_REQUEST},
    {"Host with an open bracket", STR_INIT(HOST_(" [::1")), ERR_BAD_REQUEST},
    {"Host with an empty bracket", STR_INIT(HOST_(" []")), ERR_BAD_REQUEST},
    {"Host with text behind the bracket", STR_INIT(HOST_(" [::1]a")), ERR_BAD_REQUEST},
    {"Host not ASCII", STR_INIT(HOST_(" \xc3\xa9")), ERR_BAD_REQUEST},

    {"whole URL with another scheme", STR_INIT(TARGET_("ftp://a/")), ERR_BAD_REQUEST},
    {"whole URL without a host", STR_INIT(TARGET_("http:///a")), ERR_BAD_REQUEST},
    {"whole URL with a user", STR_INIT(TARGET_("http://me@a/")), ERR_BAD_REQUEST},
    {"whole URL with two ports", STR_INIT(TARGET_("http://a:1:2/")), ERR_BAD_REQUEST},
    {"whole URL with a fragment", STR_INIT(TARGET_("http://a/#b")), ERR_BAD_REQUEST},
    {"whole URL within a whole URL's host", STR_INIT(TARGET_("http://http://a/")), ERR_BAD_REQUEST},
    {"whole URL, and no Host", STR_INIT("GET http://a/ HTTP/1.1\r\n\r\n"), ERR_BAD_REQUEST},
    {"whole URL, and two Hosts", STR_INIT("GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), ERR_BAD_REQUEST},
    {"authority target", STR_INIT(TARGET_("a:80")), ERR_BAD_REQUEST},
    {"asterisk with GET", STR_INIT(TARGET_("*")), ERR_BAD_REQUEST},
    {"more than an asterisk", STR_INIT(LINE_("OPTIONS *a HTTP/1.1")), ERR_BAD_REQUEST},
    {"relative target", STR_INIT(TARGET_("a")), ERR_BAD_REQUEST},
    {"only a query", STR_INIT(TARGET_("?a=b")), ERR_BAD_REQUEST},
    {"fragment", STR_INIT(TARGET_("/a#b")), ERR_BAD_REQUEST},
    {"fragment in the query", STR_INIT(TARGET_("/a?b#c")), ERR_BAD_REQUEST},
    {"blank in the target", STR_INIT(TARGET_("/a b")), ERR_BAD_REQUEST},
    {"tab in the target", STR_INIT(TARGET_("/a\tb")), ERR_BAD_REQUEST},
    {"not ASCII in the target", STR_INIT(TARGET_("/\xc3\xa9")), ERR_BAD_REQUEST},
    {"not ASCII in the query", STR_INIT(TARGET_("/?\xc3\xa9")), ERR_BAD_REQUEST},
    {"backslash in the target", STR_INIT(TARGET_("/a\\b")), ERR_BAD_REQUEST},
    {"quote in the query", STR_INIT(TARGET_("/?a=\"b\"")), ERR_BAD_REQUEST},
    {"escape without digits", STR_INIT(TARGET_("/%")), ERR_BAD_REQUEST},
    {"escape with one digit", STR_INIT(TARGET_("/%2")), ERR_BAD_REQUEST},
    {"escape with a wrong digit", STR_INIT(TARGET_("/%2g")), ERR_BAD_REQUEST},
    {"bad escape in the query", STR_INIT(TARGET_("/?a=%zz")), ERR_BAD_REQUEST},

    {"no version", STR_INIT(LINE_("GET /")), ERR_BAD_REQUEST},
    {"empty version", STR_INIT(LINE_("GET / ")), ERR_BAD_REQUEST},
    {"only a method", STR_INIT(LINE_("GET")), ERR_BAD_REQUEST},
    {"two blanks behind the method", STR_INIT(LINE_("GET  / HTTP/1.1")), ERR_BAD_REQUEST},
    {"two blanks behind the target", STR_INIT(LINE_("GET /  HTTP/1.1")), ERR_BAD_REQUEST},
    {"blank behind the version", STR_INIT(LINE_("GET / HTTP/1.1 ")), ERR_BAD_REQUEST},
    {"blank before the method", STR_INIT(LINE_(" GET / HTTP/1.1")), ERR_BAD_REQUEST},
    {"tabs for blanks", STR_INIT(LINE_("GET\t/\tHTTP/1.1")), ERR_BAD_REQUEST},
    {"lower-case version", STR_INIT(LINE_("GET / http/1.1")), ERR_BAD_REQUEST},
    {"HTTP/1", STR_INIT(LINE_("GET / HTTP/1")), ERR_BAD_REQUEST},
    {"HTTP/1.10", STR_INIT(LINE_("GET / HTTP/1.10")), ERR_BAD_REQUEST},
    {"HTTP/01.1", STR_INIT(LINE_("GET / HTTP/01.1")), ERR_BAD_REQUEST},
    {"HTTP/1,1", STR_INIT(LINE_("GET / HTTP/1,1")), ERR_BAD_REQUEST},
    {"HTTP/1.x", STR_INIT(LINE_("GET / HTTP/1.x")), ERR_BAD_REQUEST},
    {"ICE/1.0.", STR_INIT(LINE_("GET / ICE/1.0.")), ERR_BAD_REQUEST},
    {"HTTP/1.2", STR_INIT(LINE_("GET / HTTP/1.2")), ERR_VERSION_NOT_SUPPORTED},
    {"HTTP/0.9", STR_INIT(LINE_("GET / HTTP/0.9")), ERR_VERSION_NOT_SUPPORTED},
    {"HTTP/2.0", STR_INIT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), ERR_VERSION_NOT_SUPPORTED},

    {"method in lower case", STR_INIT(LINE_("get / HTTP/1.1")), ERR_METHOD_NOT_IMPLEMENTED},
    {"method CONNECT", STR_INIT(LINE_("CONNECT a:443 HTTP/1.1")), ERR_METHOD_NOT_IMPLEMENTED},
    {"method GETS", STR_INIT(LINE_("GETS / HTTP/1.1")), ERR_METHOD_NOT_IMPLEMENTED},
    {"method with a colon", STR_INIT(LINE_("GET: / HTTP/1.1")), ERR_BAD_REQUEST},
    {"method not ASCII", STR_INIT(LINE_("G\xc3\x8bT / HTTP/1.1")), ERR_BAD_REQUEST},

    {"unknown expectation", STR_INIT(POST_("Expect: 200-ok\r\n")), ERR_EXPECTATION_FAILED},
    {"empty expectation", STR_INIT(POST_("Expect:\r\n")), ERR_EXPECTATION_FAILED},
    {"65 headers",
     STR_INIT(GET_(TEN_("a:\r\n") TEN_("a:\r\n") TEN_("a:\r\n") TEN_("a:\r\n") TEN_("a:\r\n")
                       TEN_("a:\r\n") "b:\r\nc:\r\nd:\r\ne:\r\n")),
     ERR_HEADERS_TOO_LARGE},
    {"large header", STR_INIT(GET_("A: " TEN_(TEN_("0123456789")) "\r\n")), ERR_HEADERS_TOO_LARGE},
    {"large name that goes on", STR_INIT("GET / HTTP/1.1\r\n" TEN_(TEN_("0123456789")) TEN_("0123456789")),
     ERR_HEADERS_TOO_LARGE},
    {"long target", STR_INIT(TARGET_("/" TEN_("0123456789"))), ERR_URI_TOO_LONG},
    {"long method that goes on", STR_INIT(TEN_("ABCDEFGHIJ") "K"), ERR_URI_TOO_LONG},
    {"the first wrong byte decides", STR_INIT("GET /" TEN_("0123456789") "\n"), ERR_URI_TOO_LONG},
    {"the first wrong byte decides, once more", STR_INIT("GET /\n" TEN_("0123456789")), ERR_BAD_REQUEST},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct reading reading = read_every_way(refused[i].what, refused[i].bytes);
        if (reading.outcome != HEAD_REFUSED || reading.error != refused[i].error)
            fail_msg("%s: outcome %d, error %d instead of %d", refused[i].what, (int)reading.outcome,
                     (int)reading.error, (int)refused[i].error);
    }
}

static struct http_head accepted(const char *what, struct str bytes)
{
    struct reading reading = read_every_way(what, bytes);
    if (reading.outcome != HEAD_COMPLETE)
        fail_msg("%s: outcome %d, error %d", what, (int)reading.outcome, (int)reading.error);
    assert_int_equal(reading.length, bytes.len);
    return reading.head;
}

static void test_all_parts_are_read(void **state)
{
    (void)state;
    struct http_head head = accepted("a full request", STR("\r\nPOST /a/%7Eb;c?d=e&f[]=%20 HTTP/1.1\r\n"
                                                           "Host: tickets.example.com:8080\r\n"
                                                           "X-Empty:\r\n"
                                                           "x-blanks: \t two  words\t \r\n"
                                                           "X-Latin: caf\xe9\r\n"
                                                           "Content-Length:   0042\r\n"
                                                           "EXPECT: 100-Continue\r\n\r\n"));
    assert_int_equal(head.method, HTTP_POST);
    assert_str_equal(head.path, STR("/a/%7Eb;c"));
    assert_str_equal(head.query, STR("d=e&f[]=%20"));
    assert_int_equal(head.minor, 1);
    assert_true(head.keep_alive);
    assert_true(head.expects_continue);
    assert_false(head.chunked);
    assert_true(head.has_length);
    assert_int_equal(head.content_length, 42);
    assert_int_equal(head.header_count, 6);
    assert_str_equal(head.headers[0].name, STR("Host"));
    assert_str_equal(head_header(&head, STR("HOST")), STR("tickets.example.com:8080"));
    assert_str_equal(head_header(&head, STR("x-empty")), STR(""));
    assert_non_null(head_header(&head, STR("x-empty")).ptr);
    assert_str_equal(head_header(&head, STR("X-Blanks")), STR("two  words"));
    assert_null(head_header(&head, STR("x-none")).ptr);
}

static void test_methods(void **state)
{
    (void)state;
    for (enum http_method method = HTTP_GET; method < HTTP_METHOD_COUNT; method++) {
        char text[128];
        int length =
            snprintf(text, sizeof(text), "%.*s /m HTTP/1.1\r\nHost: a\r\n\r\n", STR_ARG(http_method_name(method)));
        struct http_head head = accepted("a method", str_make(text, (size_t)length));
        assert_int_equal(head.method, method);
    }
    struct http_head head = accepted("asterisk", STR(LINE_("OPTIONS * HTTP/1.1")));
    assert_str_equal(head.path, STR("*"));
}

static void test_hosts(void **state)
{
    (void)state;
    accepted("a name with a port", STR(HOST_(" a-b.example_c.com:65535")));
    accepted("an IPv4 address", STR(HOST_(" 127.0.0.1:80")));
    accepted("an IPv6 address", STR(HOST_(" [::ffff:127.0.0.1]:80")));
    accepted("none in 1.0", STR("GET / HTTP/1.0\r\n\r\n"));
}

static void test_keep_alive(void **state)
{
    (void)state;
    static const struct {
        struct str bytes;
        bool keep_alive;
    } cases[] = {
        {STR_INIT(GET_("")), true},
        {STR_INIT(GET_("Connection: close\r\n")), false},
        {STR_INIT(GET_("Connection: upgrade, Close\r\n")), false},
        {STR_INIT(GET_("Connection: keep-alive\r\nConnection: close\r\n")), false},
        {STR_INIT(GET_("Connection: closed\r\n")), true},
        {STR_INIT("GET / HTTP/1.0\r\n\r\n"), false},
        {STR_INIT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), true},
        {STR_INIT("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n"), false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(accepted(cases[i].bytes.ptr, cases[i].bytes).keep_alive, cases[i].keep_alive);
}

static void test_bodies(void **state)
{
    (void)state;
    struct http_head head = accepted("chunked", STR(POST_("Transfer-Encoding:  CHUNKED \r\n")));
    assert_true(head.chunked);
    assert_false(head.has_length);
    head = accepted("the largest length", STR(POST_("Content-Length: 9223372036854775807\r\n")));
    assert_true(head.content_length == INT64_MAX);
    head = accepted("no body", STR(POST_("Expect: 100-continue\r\n")));
    assert_false(head.has_length);
    assert_false(head.expects_continue);
    head = accepted("1.0", STR("POST / HTTP/1.0\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    assert_false(head.expects_continue);
}

static void test_just_within_the_limits(void **state)
{
    (void)state;
    accepted("line of 100 bytes", STR(LINE_("GET /12345" TEN_("12345678") "0 HTTP/1.1")));
    struct http_head head = accepted("64 headers", STR(GET_(TEN_("a:\r\n") TEN_("a:\r\n") TEN_("a:\r\n") TEN_("a:\r\n")
                                                                TEN_("a:\r\n") TEN_("a:\r\n") "b:\r\nc:\r\nd:\r\n")));
    assert_int_equal(head.header_count, HTTP_HEADERS_MAX);

    char bytes[1024];
    size_t begin = (size_t)snprintf(bytes, sizeof(bytes), "GET / HTTP/1.1\r\nHost: a\r\nA: ");
    memset(bytes + begin, 'x', sizeof(bytes) - begin);
    memcpy(bytes + sizeof(bytes) - 4, "\r\n\r\n", 4);
    accepted("head of 1024 bytes", str_make(bytes, sizeof(bytes)));
}

static void test_what_follows_is_left_alone(void **state)
{
    (void)state;
    struct str first = STR(GET_("")), both = STR(GET_("") "\0\n anything");
    struct reading reading = read_in_parts(both, &both.len, 1);
    assert_int_equal(reading.outcome, HEAD_COMPLETE);
    assert_int_equal(reading.length, first.len);
}

/* Each of the 256 bytes at each of the eight places of a word, against the plain rule. */
static void test_every_byte_everywhere(void **state)
{
    (void)state;
    for (int byte = 0; byte < 256; byte++)
        for (size_t place = 0; place < 24; place++) {
            char bytes[] = GET_("A: 0123456789012345678901234567\r\n");
            size_t at = sizeof(GET_("A: ")) - 3 + place;
            bytes[at] = (char)byte;
            struct str whole = str_make(bytes, sizeof(bytes) - 1);
            struct reading reading = read_in_parts(whole, &whole.len, 1);
            bool bad = (byte < 0x20 && byte != '\t') || byte == 0x7f;
            assert_int_equal(reading.outcome, bad ? HEAD_REFUSED : HEAD_COMPLETE);
        }
}

static void test_targets_that_are_whole_urls(void **state)
{
    (void)state;
    static const struct {
        const char *line, *path, *query, *host;
    } rows[] = {
        {"GET http://shop.example/a/b?c=d HTTP/1.1", "/a/b", "c=d", "shop.example"},
        {"GET HTTPS://shop.example:8443/ HTTP/1.1", "/", "", "shop.example:8443"},
        {"GET http://[::1]:80/x HTTP/1.1", "/x", "", "[::1]:80"},
        {"GET http://shop.example HTTP/1.1", "/", "", "shop.example"},
        {"GET http://shop.example?c=/d HTTP/1.1", "/", "c=/d", "shop.example"},
        {"OPTIONS http://shop.example HTTP/1.1", "*", "", "shop.example"},
        {"OPTIONS http://shop.example/ HTTP/1.1", "/", "", "shop.example"},
        {"GET /http://other/ HTTP/1.1", "/http://other/", "", "front"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[256];
        int length = snprintf(bytes, sizeof(bytes), "%s\r\nX: y\r\nHost: front\r\n\r\n", rows[i].line);
        struct reading reading = read_every_way(rows[i].line, str_make(bytes, (size_t)length));
        if (reading.outcome != HEAD_COMPLETE)
            fail_msg("%s: refused", rows[i].line);
        assert_str_equal(reading.head.path, str_from(rows[i].path));
        assert_str_equal(reading.head.query, str_from(rows[i].query));
        assert_str_equal(head_header(&reading.head, STR("host")), str_from(rows[i].host));
        assert_str_equal(head_header(&reading.head, STR("x")), STR("y"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_all_parts_are_read),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_targets_that_are_whole_urls),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_keep_alive),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_just_within_the_limits),
        cmocka_unit_test(test_what_follows_is_left_alone),
        cmocka_unit_test(test_every_byte_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
