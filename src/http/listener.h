/*
 * A listening socket of a loop. Each loop has its own on the same port, and the kernel spreads the connections. A
 * server has two kinds: the public one, and, where it is configured, one for other services, on which only routes with
 * ACCESS_INTERNAL exist.
 *
 * Private to http/. Opened by the main thread before the loops run; then on its loop.
 */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include <stdbool.h>
#include <uv.h>

struct server_loop;

struct listen_at {
    const char *address; /* numeric, IPv4 or IPv6 */
    int port;            /* 0: a free one */
    const char *setting; /* that chooses the port, for messages */
    bool alone;          /* nobody else may have the port yet */
};

struct listener {
    uv_tcp_t tcp;
    struct server_loop *home;
    bool internal;
    bool open;
};

/* False with a logged reason. *port is the one that it got. */
__attribute__((warn_unused_result)) bool listener_open(struct listener *listener, struct server_loop *home,
                                                       const struct listen_at *at, int *port);
void listener_close(struct listener *listener); /* if it is open */

#endif
