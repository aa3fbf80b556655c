/*
 * The head of an HTTP/1.1 request: our own small and strict reader (RFC 9112).
 * What could be read in two ways is refused, so that no proxy in front of us and
 * we can disagree about where a request ends.
 *
 * Reading goes in two steps. head_scan looks for the end of the head in whatever
 * has arrived and can go on where it stopped; it refuses bad bytes and broken
 * line ends as soon as it sees them. head_parse then reads the complete head. What is
 * refused, and why, does not depend on how the bytes were split on their way.
 */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "base/str.h"
#include "tables/errors.h"

/* TRACE is known so that it can be refused by its name: no path takes it. */
enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_TRACE,
    HTTP_METHOD_COUNT
};

struct str http_method_name(enum http_method method);

enum { HTTP_HEADERS_MAX = 64 };

struct http_header {
    struct str name, value;
};

struct http_head {
    enum http_method method;
    /* As sent: begins with '/' (or is the '*' of OPTIONS); escapes checked but not decoded. Where the target was a
     * whole URL, its host has replaced the value of the Host header (RFC 9112 3.2.2). */
    struct str path;
    struct str query; /* behind the '?', without it; empty when there is none */
    int minor;        /* HTTP/1.minor: 0 or 1 */
    bool keep_alive;
    bool expects_continue;
    bool chunked;
    bool has_length;
    uint64_t content_length;
    size_t header_count;
    struct http_header headers[HTTP_HEADERS_MAX];
};

struct head_limits {
    size_t line;    /* bytes of the request line: past it 414 */
    size_t headers; /* bytes of the whole head: past it 431 */
};

struct head_scan {
    size_t at;         /* bytes looked at */
    size_t line_start; /* of the line being looked at */
    size_t lines;      /* complete ones */
};

enum head_outcome { HEAD_COMPLETE, HEAD_MORE, HEAD_REFUSED };

/* `bytes` begins with the request's first byte and has only grown since the last call with the same
 * scan (which starts as zeros). HEAD_COMPLETE: the head is the first *length bytes. One empty line
 * before the request line is allowed (RFC 9112 2.2) and belongs to the head. */
enum head_outcome head_scan(struct head_scan *scan, struct str bytes, const struct head_limits *limits, size_t *length,
                            enum error *error);

/* As if nothing had been read: a GET of nothing, without headers. */
void head_clear(struct http_head *head);

/* `bytes` is a complete head as head_scan measured it; the strs in `head` point into it. False: refused, and
 * `head` holds what was read before. */
bool head_parse(struct str bytes, struct http_head *head, enum error *error);

/* The first header of that name (any case); ptr NULL when there is none. */
struct str head_header(const struct http_head *head, struct str name);

#endif
