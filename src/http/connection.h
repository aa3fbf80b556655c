/*
 * A client's connection: reads requests one after the other, runs each as a
 * task, writes its answer, then reads the next. Pipelined requests wait in the
 * input buffer, so answers keep their order by themselves.
 *
 * Lifetime: a connection is freed when its socket is closed and no request of it
 * is running; a request is released when its answer is written or dropped.
 *
 * Private to http/. All on the connection's loop.
 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "base/clock.h"
#include "http/chunk.h"
#include "http/client_quota.h"
#include "http/listener.h"
#include "http/request.h"
#include "http/server.h"
#include "task/loop.h"

#include <netinet/in.h>
#include <pthread.h>

enum {
    READ_BUFFER = 64 * 1024,
    ADDRESS_TEXT = 46,
    REPLY_HEADERS_MAX = 16 * 1024, /* that handlers add */
    SHORT_BODY_MAX = 1024,         /* copied behind the head: one piece costs the kernel less than two */
    ANSWER_FRONT_MAX = REPLY_HEADERS_MAX + 1024 + SHORT_BODY_MAX,
};

struct stream;

/* What one loop of the server owns. */
struct server_loop {
    struct server *server;
    struct loop *loop;
    size_t index;
    pthread_t thread;
    struct listener listener, internal_listener;
    uv_timer_t sweep; /* looks for connections past their deadline */
    uv_timer_t turn;  /* the next turn of large answers (answer_shared.c) */
    struct connection *turns_first, **turns_end;
    struct connection *connections;
    size_t connection_count;
    struct connection **reserve; /* those who came over a limit (reserve.c); NULL: a free place */
    size_t reserve_size;
    struct request *idle_requests; /* kept with their memory for the next one */
    size_t idle_request_count;
    char *read_buffer;              /* every read of this loop lands here first */
    struct buf answer_front;        /* every answer's head and short body are put here, and as a rule sent at once */
    char date[CLOCK_HTTP_SIZE + 8]; /* the Date header line of this second */
    size_t date_length;
    int64_t date_second;
    bool draining, stopping;
    int64_t drain_until_ms; /* uv_now */
    struct loop_message start, drain;
};

enum connection_state {
    CONNECTION_HEAD,      /* reading a request's head, or idle */
    CONNECTION_BODY,      /* reading its body; the request exists from here on */
    CONNECTION_RUNNING,   /* its task runs */
    CONNECTION_WRITING,   /* its answer waits for the client to read */
    CONNECTION_STREAMING, /* an open answer (http/stream.h) */
    CONNECTION_LINGERING, /* answered and shut down; drops what still comes, lest a reset takes the answer away */
    CONNECTION_CLOSING,   /* uv_close has been called */
};

struct connection {
    uv_tcp_t tcp;
    uv_write_t write;
    uv_shutdown_t shutdown;
    struct server_loop *home;
    struct connection *next, *previous;
    struct connection *next_turn; /* behind it in the queue of large answers */
    enum connection_state state;
    bool internal; /* came by the internal listener */
    bool reserved; /* came over a limit, may only ask how we are, and is not counted */
    int64_t accepted_ns;
    bool closed;         /* the socket is gone; only a running request keeps the memory */
    bool reading;        /* uv_read_start is on */
    bool ended;          /* the client has said that it sends no more */
    bool consuming;      /* connection_consume is on the stack */
    bool refusing;       /* the request could not be read to its end: close after the answer */
    int64_t deadline_ms; /* uv_now; 0: none */
    size_t unsent;       /* when the deadline of a write was set */
    struct buf input;    /* arrived and not used yet */
    struct head_scan scan;
    struct chunk_reader chunk;
    struct request *request;
    struct stream *stream;
    struct in6_addr address; /* IPv4 as mapped */
    char address_text[ADDRESS_TEXT];
};

/* connection.c */
void connection_accept(struct listener *listener);
void connection_close(struct connection *connection);
void connection_turn_away(struct connection *connection); /* with a short 503 */
void connection_check_deadline(struct connection *connection, int64_t now_ms);
/* The answer is out: the next request, if the connection goes on. */
void connection_next(struct connection *connection);
void connection_linger(struct connection *connection);
/* A write is with libuv: the client has to read. */
void connection_expect_read(struct connection *connection);
/* If it had stopped and may go on; may close the connection. */
void connection_resume_reading(struct connection *connection);
void connection_forget(struct connection *connection); /* frees it when its socket is closed */

/* dispatch.c: a complete request on its way through route, filters and handler. */
void dispatch_route(struct request *rq); /* finds the route when the head is there */
void dispatch_run(struct request *rq);
void dispatch_refuse(struct request *rq, enum error error);

/* answer.c */
void answer_send(struct request *rq);
void answer_finish(struct connection *connection);  /* it is out, or nobody wants it any more: gives the request back */
void answer_give_up(struct connection *connection); /* closes the connection, and the same */
/* Drops the bytes that were written from the front of the parts; how many parts are left. */
unsigned answer_skip_written(uv_buf_t *parts, unsigned count, size_t written);

/* answer_shared.c */
void answer_turns_init(struct server_loop *home);
size_t answer_shared_length(const struct request *rq);
void answer_send_shared(struct request *rq, struct str head);
void answer_release_shared(struct request *rq); /* if it has a shared body */

/* reserve.c: places for connections over the limits, which may ask for routes that are `reserved`. */
bool reserve_create(struct server_loop *home, size_t size);
bool reserve_enter(struct connection *connection); /* false: no place */
void reserve_leave(struct connection *connection); /* if it has one */

/* request.c */
struct request *request_take(struct server_loop *home, struct connection *connection); /* NULL: no memory */
void request_release(struct request *rq);
void request_pool_free(struct server_loop *home);
void request_run_ends(struct request *rq);

/* stream.c */
void stream_begin(struct connection *connection);
void stream_connection_closed(struct connection *connection);             /* if it has a stream */
bool stream_is_over(const struct connection *connection, int64_t now_ms); /* it has one, which has become too old */

/* server.c */
const struct server_settings *server_settings(const struct server *server);
const struct server_hooks *server_hooks(const struct server *server);
const struct router *server_router(const struct server *server);
bool server_admit(struct server *server, const struct in6_addr *address);
void server_leave(struct server *server, const struct in6_addr *address);
void server_loop_connection_gone(struct server_loop *home);
struct client_quota *server_unsent(const struct server *server);
struct client_quota *server_streams(const struct server *server);
struct str server_loop_date(struct server_loop *home);

#endif
