/*
 * The HTTP/1.1 server: one loop and one thread per core, each with its own
 * listening socket. server_run blocks until SIGTERM or SIGINT and then drains: no
 * new connections, running requests finish within a bound.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "base/cidr.h"
#include "http/router.h"

struct server;
struct loop;

struct server_settings {
    const char *address;          /* numeric, IPv4 or IPv6 */
    int port;                     /* 0: a free one, see server_port */
    const char *internal_address; /* of the listener for other services; NULL: none */
    int internal_port;
    size_t threads; /* 0: one per core */
    bool threads_keep_core;
    size_t max_connections, max_connections_per_address;
    size_t reserved_connections; /* beyond these limits, for routes that are `reserved` */
    size_t max_streams, max_streams_per_address;
    size_t max_unsent_bytes, max_unsent_bytes_per_address; /* of large answers */
    size_t max_tasks;                                      /* per loop */
    int64_t header_timeout_ms, body_timeout_ms, idle_timeout_ms, write_timeout_ms, request_timeout_ms;
    int64_t stream_max_age_ms;
    int64_t drain_timeout_ms;
    size_t max_header_bytes, max_request_line_bytes;
    size_t max_request_memory;               /* of a request's arena */
    const struct cidr_list *trusted_proxies; /* NULL: none */
    struct str cors_origins;                 /* comma-separated, or "*"; empty: none */
};

struct server_hooks {
    void *app; /* request->app, and the argument of the hooks */
    /* On each loop's thread, before its first connection and after its last task. */
    void (*loop_started)(void *app, size_t loop_index);
    void (*loop_stopping)(void *app, size_t loop_index);
    /* When a draining loop has nothing left to do: true keeps it a moment longer. */
    bool (*loop_busy)(void *app);
    /* On the request's task, before the route's handler; false: it has answered. */
    bool (*filter)(struct request *rq);
};

/* Binds the port at once, so that a port in use is an error here: NULL, with the reason logged. */
struct server *server_create(const struct server_settings *settings, const struct router *router,
                             const struct server_hooks *hooks);
int server_port(const struct server *server);
size_t server_loop_count(const struct server *server);

/* Before other parts of the program start threads of their own. They inherit it; a thread without it would end the
 * program at the second SIGTERM, in the middle of the draining that the first one began. */
void server_block_signals(void);

/* Starts the loops and blocks until server_stop or a signal, then drains. */
void server_run(struct server *server);
/* Any thread, while server_run runs. */
void server_stop(struct server *server);
void server_destroy(struct server *server);

size_t server_connections(const struct server *server);
size_t server_stream_count(const struct server *server);
size_t server_unsent_bytes(const struct server *server); /* of large answers that clients have not taken yet */
bool server_draining(const struct server *server);

#endif
