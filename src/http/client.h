/*
 * Calls to other HTTP servers (payment providers, Google's keys, a service that
 * runs in another process), from a task, in straight-line code:
 *
 *     struct http_call call = {.method = HTTP_GET, .url = url, .max_answer = 64 * 1024};
 *     struct http_answer answer;
 *     switch (http_call(client, &call, arena, &answer)) { … }
 *
 * One client serves all loops. What it keeps for a loop (libcurl's handle, the
 * open connections) is made by the first call there, is touched by that loop's
 * thread only, and is given back by http_client_close_loop. Limits hold per loop.
 *
 * Certificates are verified; only http and https, only HTTP/1.1; no cookies, no
 * compression, nothing from the environment. A call carries a `traceparent` when
 * the log has a trace id.
 */
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include "base/arena.h"
#include "base/str.h"
#include "http/head.h"

struct http_client;

/* Zero or NULL takes the default. The strings are copied. */
struct http_client_options {
    size_t max_calls;                /* at once, waiting for a connection included: 1000 */
    size_t max_connections;          /* 256 */
    size_t max_connections_per_host; /* 32 */
    int64_t timeout_ms;              /* of a call that names none: 10 s */
    int64_t connect_timeout_ms;      /* name lookup, TCP and TLS together: 5 s */
    const char *ca_file;             /* PEM; NULL: the system's */
    const char *proxy;               /* NULL: none */
};

struct http_call {
    enum http_method method;
    struct str url;
    const struct http_header *headers;
    size_t header_count;
    struct str body;
    size_t max_answer;      /* bytes of the answer's body: past it HTTP_CALL_TOO_LARGE */
    int64_t timeout_ms;     /* the task's deadline holds as well */
    unsigned max_redirects; /* followed for GET and HEAD only, and never from https to http */

    /* For POST and PATCH: the receiver can tell a repetition, say by an idempotency key. A kept connection may
     * turn out to be dead when the request is under way, and libcurl then sends it again on another. So without
     * this promise such a call gets a new connection, and is never sent twice. */
    bool repeatable;
};

struct http_answer {
    int status;
    struct http_header *headers;
    size_t header_count;
    struct str body;
};

enum http_call_outcome {
    HTTP_CALL_OK,          /* an answer is there, whatever its status */
    HTTP_CALL_DEADLINE,    /* no complete answer in time; it may have had its effect */
    HTTP_CALL_UNREACHABLE, /* no name, no connection, no trust; unless it is repeatable, nothing was sent */
    HTTP_CALL_TOO_LARGE,   /* body past max_answer, or the head past its own limit */
    HTTP_CALL_BUSY,        /* too many calls under way on this loop; nothing was sent */
    HTTP_CALL_FAILED,      /* bad call, broken answer, connection lost; it may have had its effect */
};

/* NULL when memory is short or libcurl does not start. The program must ignore SIGPIPE. */
struct http_client *http_client_create(const struct http_client_options *options);

/* After http_client_close_loop on every loop that has called. */
void http_client_free(struct http_client *client);

/* On the loop's thread, when none of its tasks is in a call any more. The loop must run once more afterwards
 * (loop_destroy does). */
void http_client_close_loop(struct http_client *client);

/* From a task; returns when the answer is complete or the call has failed. The answer lives in the arena and is
 * set for HTTP_CALL_OK only. */
__attribute__((warn_unused_result)) enum http_call_outcome
http_call(struct http_client *client, const struct http_call *call, struct arena *arena, struct http_answer *answer);

/* The first header of that name (any case); ptr NULL when there is none. */
struct str http_answer_header(const struct http_answer *answer, struct str name);

#endif
