/*
 * libcurl on an event loop: transfers that a task can wait for. Belongs to the
 * HTTP client (http/client.h); nobody else includes it. One per loop, used by the
 * loop's thread only.
 */
#ifndef HTTP_CLIENT_LOOP_H
#define HTTP_CLIENT_LOOP_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct client_loop;

struct client_loop_limits {
    size_t transfers; /* at once, waiting for a connection included */
    size_t connections;
    size_t connections_per_host;
};

enum client_loop_outcome {
    CLIENT_LOOP_DONE,     /* *result tells how it went */
    CLIENT_LOOP_DEADLINE, /* it has been stopped */
    CLIENT_LOOP_BUSY,     /* not begun */
};

/* On the current loop. NULL when memory is short. */
struct client_loop *client_loop_create(const struct client_loop_limits *limits);

/* On the same loop, with no transfer under way. The memory is freed when the loop runs next. */
void client_loop_close(struct client_loop *here);

/* From a task. When it returns, libcurl no longer knows `easy`, which remains the caller's. Uses CURLOPT_PRIVATE. */
enum client_loop_outcome client_loop_run(struct client_loop *here, CURL *easy, int64_t deadline_ns, CURLcode *result);

#endif
