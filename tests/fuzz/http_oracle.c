#include "http_oracle.h"

#include "base/buf.h"

#include <http_parser.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20, HEADERS_MAX = 64 };

/* What http-parser has told us about one request. Its pieces come in order and in parts. */
struct sight {
    struct buf target, body;
    struct buf names[HEADERS_MAX + 1], values[HEADERS_MAX + 1];
    size_t headers;
    bool in_value;
    bool headers_complete;
    bool keep_alive; /* by the headers: in trailers it would mind Connection too */
    bool complete;
};

static void disagree(const char *about, struct str ours, struct str theirs)
{
    fprintf(stderr, "http-parser disagrees about %s: ours '%.*s', theirs '%.*s'\n", about, STR_ARG(ours),
            STR_ARG(theirs));
    abort();
}

static void expect_number(const char *about, uint64_t ours, uint64_t theirs)
{
    if (ours == theirs)
        return;
    fprintf(stderr, "http-parser disagrees about %s: ours %llu, theirs %llu\n", about, (unsigned long long)ours,
            (unsigned long long)theirs);
    abort();
}

static void expect_text(const char *about, struct str ours, struct str theirs)
{
    if (!str_eq(ours, theirs))
        disagree(about, ours, theirs);
}

static int on_url(http_parser *parser, const char *at, size_t length)
{
    struct sight *sight = parser->data;
    return !buf_add(&sight->target, str_make(at, length));
}

static int on_header_field(http_parser *parser, const char *at, size_t length)
{
    struct sight *sight = parser->data;
    if (sight->headers_complete)
        return 0; /* a trailer */
    if (sight->headers == 0 || sight->in_value)
        sight->headers++;
    sight->in_value = false;
    if (sight->headers > HEADERS_MAX)
        return 1;
    return !buf_add(&sight->names[sight->headers - 1], str_make(at, length));
}

static int on_header_value(http_parser *parser, const char *at, size_t length)
{
    struct sight *sight = parser->data;
    if (sight->headers_complete)
        return 0;
    sight->in_value = true;
    return !buf_add(&sight->values[sight->headers - 1], str_make(at, length));
}

static int on_headers_complete(http_parser *parser)
{
    struct sight *sight = parser->data;
    sight->headers_complete = true;
    sight->keep_alive = http_should_keep_alive(parser);
    parser->upgrade = 0; /* like us, it shall not follow an Upgrade */
    return 0;
}

static int on_body(http_parser *parser, const char *at, size_t length)
{
    struct sight *sight = parser->data;
    return !buf_add(&sight->body, str_make(at, length));
}

static int on_message_complete(http_parser *parser)
{
    struct sight *sight = parser->data;
    sight->complete = true;
    http_parser_pause(parser, 1); /* so that it tells how far it came */
    return 0;
}

/* In trailers http-parser minds some fields that we, who drop all trailers, need not look at. */
static bool is_about_trailers(const http_parser *parser)
{
    enum http_errno error = HTTP_PARSER_ERRNO(parser);
    return (parser->flags & F_TRAILING) &&
           (error == HPE_UNEXPECTED_CONTENT_LENGTH || error == HPE_INVALID_CONTENT_LENGTH);
}

/* It takes a header whose name only begins with Transfer-Encoding for one: a fault of http-parser's that ends in
 * a refusal. */
static bool is_mistaken_for_encoding(const struct oracle_request *ours)
{
    const struct str name = STR("transfer-encoding");
    for (size_t i = 0; i < ours->header_count; i++)
        if (ours->headers[i].name.len > name.len && str_ieq(str_first(ours->headers[i].name, name.len), name))
            return true;
    return false;
}

/* A target that is a whole URL: takes scheme and authority off it and returns the authority. */
static struct str take_authority(struct str *target)
{
    ptrdiff_t colon = str_find_char(*target, ':');
    if (target->len == 0 || target->ptr[0] == '/' || colon < 0)
        return str_make(NULL, 0);
    struct str rest = str_from_offset(*target, (size_t)colon + 3);
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
        end++;
    *target = str_from_offset(rest, end);
    return str_first(rest, end);
}

static void compare_headers(const struct oracle_request *ours, const struct sight *sight)
{
    struct str target = buf_str(&sight->target), authority = take_authority(&target);
    expect_number("the number of headers", ours->header_count, sight->headers);
    for (size_t i = 0; i < ours->header_count; i++) {
        bool replaced = authority.len && str_ieq(ours->headers[i].name, STR("host"));
        expect_text("a header's name", ours->headers[i].name, buf_str(&sight->names[i]));
        expect_text("a header's value", ours->headers[i].value,
                    replaced ? authority : str_trim(buf_str(&sight->values[i])));
    }
}

static void compare_target(const struct oracle_request *ours, const struct sight *sight)
{
    struct str rest = buf_str(&sight->target), authority = take_authority(&rest), path = rest;
    bool alone = authority.len && rest.len == 0;
    str_split(&rest, '?', &path);
    if (authority.len && path.len == 0)
        path = alone && str_eq(ours->method, STR("OPTIONS")) ? STR("*") : STR("/");
    expect_text("the path", ours->path, path);
    expect_text("the query", ours->query, rest);
}

/* Where it would close and we would not, our next answer would belong to nobody's request. It also obeys
 * Proxy-Connection, which is no header of HTTP, and overlooks HTTP/1.0's keep-alive behind an empty list item. */
static void compare_keep_alive(const struct oracle_request *ours, const struct sight *sight)
{
    for (size_t i = 0; i < ours->header_count; i++)
        if (str_ieq(ours->headers[i].name, STR("proxy-connection")))
            return;
    if (ours->keep_alive && ours->minor == 1)
        expect_number("keeping the connection", 1, sight->keep_alive);
}

static void sight_free(struct sight *sight)
{
    buf_free(&sight->target);
    buf_free(&sight->body);
    for (size_t i = 0; i <= HEADERS_MAX; i++) {
        buf_free(&sight->names[i]);
        buf_free(&sight->values[i]);
    }
}

void http_oracle_check(struct str bytes, const struct oracle_request *ours)
{
    static const http_parser_settings settings = {
        .on_url = on_url,
        .on_header_field = on_header_field,
        .on_header_value = on_header_value,
        .on_headers_complete = on_headers_complete,
        .on_body = on_body,
        .on_message_complete = on_message_complete,
    };
    struct sight sight = {.target.max = TEXT_MAX, .body.max = TEXT_MAX};
    for (size_t i = 0; i <= HEADERS_MAX; i++)
        sight.names[i].max = sight.values[i].max = TEXT_MAX;
    http_parser parser;
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &sight;

    size_t parsed = http_parser_execute(&parser, &settings, bytes.ptr, bytes.len);
    if (!sight.complete && (is_about_trailers(&parser) || is_mistaken_for_encoding(ours))) {
        sight_free(&sight);
        return;
    }
    if (!sight.complete)
        disagree("accepting", str_first(bytes, ours->length), str_from(http_errno_name(HTTP_PARSER_ERRNO(&parser))));
    expect_number("where the request ends", ours->length, parsed);
    expect_text("the method", ours->method, str_from(http_method_str(parser.method)));
    expect_number("the version", (uint64_t)ours->minor, parser.http_minor);
    compare_target(ours, &sight);
    compare_headers(ours, &sight);
    expect_text("the body", ours->body, buf_str(&sight.body));
    compare_keep_alive(ours, &sight);
    sight_free(&sight);
}
