/*
 * A request, as handlers see it, and the ways to answer it. A handler is
 * straight-line code on a task (task/task.h); it calls exactly one reply_*
 * function and returns. Everything it takes from the request's arena lives until
 * the answer is on its way; handlers free nothing.
 *
 * The task owns the request until it ends: a client that goes away meanwhile
 * changes nothing for the handler, whose answer is then dropped.
 */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "base/arena.h"
#include "base/json_write.h"
#include "http/head.h"
#include "http/identity.h"
#include "http/shared_body.h"
#include "http/url.h"
#include "tables/errors.h"

#include <netinet/in.h>

struct route;
struct connection;
struct request_end;

enum { ROUTE_PARAMS_MAX = 4, TRACE_ID_LENGTH = 32 };

/* A body in pieces that many answers share (http/shared_body.h). */
struct shared_reply {
    struct shared_body *body;
    struct str front, end;  /* before and after it: the request's own */
    size_t piece, offset;   /* what is written next: 0 is the head with `front`, then the pieces, then `end` */
    size_t writing;         /* bytes that are with libuv */
    size_t counted;         /* bytes that count as unsent */
    struct in6_addr client; /* for this client */
};

struct reply {
    int status;
    struct str content_type;
    struct buf headers; /* further header lines */
    struct buf body;
    struct str fixed;           /* instead of `body`: bytes that outlive the request (static files) */
    struct buf packed;          /* the body, compressed */
    struct shared_reply shared; /* instead of `body`, when its `body` is set */
    struct buf unsent_front;    /* what the socket did not take of the answer's front; filled by the connection */
    bool sent;
    bool close;    /* close the connection after it */
    bool streamed; /* became a stream (http/stream.h) */
};

struct request {
    struct arena arena;
    void *app; /* what server_create was given */
    struct http_head head;
    struct str body;
    const struct route *route;           /* NULL: nothing matches */
    struct str params[ROUTE_PARAMS_MAX]; /* the {…} of the route's path, decoded, in order */
    struct str client_address;           /* the client's, seen through trusted proxies */
    struct identity identity;
    char trace[TRACE_ID_LENGTH];
    int64_t started_ns;
    struct reply reply;

    /* the server's own */
    struct connection *connection;
    struct request *next; /* in the pool */
    struct buf head_bytes, body_bytes;
    unsigned allowed_methods; /* that the path takes; 0: no such path */
    struct url_param *query;  /* read by query_accept (http/query.h) before filters and handler */
    size_t query_count;
    struct request_end *ends;
    void *unwind; /* jmp_buf to leave the handler by when the arena is exhausted */
};

struct str request_header(const struct request *rq, struct str name); /* ptr NULL when absent */

/* The first cookie of that name (names know upper and lower case); ptr NULL when absent. */
struct str request_cookie(const struct request *rq, struct str name);

/* The client came over TLS, as far as a trusted proxy tells: the server itself speaks none. */
bool request_over_tls(const struct request *rq);

/* The query parameter, decoded; ptr NULL when absent. A query that cannot be read never reaches a handler. */
struct str request_query(const struct request *rq, struct str name);

/* The number of the loop that serves it: 0 … server_loop_count - 1. */
size_t request_loop_index(const struct request *rq);

/* The client's address (client_address), IPv4 as mapped. */
struct in6_addr request_client(const struct request *rq);

/* Whether a gzip body is welcome. */
bool request_accepts_gzip(const struct request *rq);

/* Answers 400 naming the field and returns false, so that a reader can say:
 *     if (bad) return request_invalid(rq, "phone", "must be …"); */
bool request_invalid(struct request *rq, const char *field, const char *problem);

/* end(argument) is called when the handler has returned or was left early, last one first:
 * for what must be given back on every path. It runs on the task and may wait. */
void request_at_end(struct request *rq, void (*end)(void *argument), void *argument);

/* The body of a JSON answer is written through this, then reply_json sends it. */
struct json_writer reply_json_writer(struct request *rq);
void reply_json(struct request *rq, int status);

/* What has been written into rq->reply.body. */
void reply_written(struct request *rq, int status, struct str content_type);

void reply_text(struct request *rq, int status, struct str content_type, struct str text);
void reply_empty(struct request *rq, int status);

/* `bytes` must outlive the request. */
void reply_fixed(struct request *rq, int status, struct str content_type, struct str bytes);

/* The body is `front`, the shared one and `end`, which live in the arena. Takes the caller's reference. False when too
 * much waits to be sent already, in all or to this client: then 503 has been answered. */
bool reply_shared(struct request *rq, struct str content_type, struct str front, struct shared_body *body,
                  struct str end);

/* The error's envelope: {"success":false,"reason":…,"message":…,"traceId":…}. */
void reply_error(struct request *rq, enum error error);
void reply_error_message(struct request *rq, enum error error, struct str message);

/* For an envelope with more members: begins it, the caller adds members, reply_error_end sends it. */
struct json_writer reply_error_begin(struct request *rq, enum error error, struct str message);
void reply_error_end(struct request *rq, enum error error, struct json_writer *json);

/* Forgets the answer given so far, but for its headers; another must follow. */
void reply_discard(struct request *rq);

/* Before the reply: a header line. CR and LF in the value become blanks. */
void reply_header(struct request *rq, struct str name, struct str value);

/* True when If-None-Match names the etag (given with its quotes, and W/ before them where it is weak): then 304 has
 * been answered, with the ETag header. If not, an answer with the same etag should have it too. */
bool reply_not_modified(struct request *rq, struct str etag);

#endif
