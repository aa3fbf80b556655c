#include "http/listener.h"

#include "base/log.h"
#include "http/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 4096 };

static void on_connection(uv_stream_t *stream, int status)
{
    if (status == 0)
        connection_accept(stream->data);
    else
        log_error("cannot accept a connection", LOG_C("reason", uv_strerror(status)));
}

static bool resolve(const struct listen_at *at, struct sockaddr_storage *address)
{
    return uv_ip4_addr(at->address, at->port, (struct sockaddr_in *)address) == 0 ||
           uv_ip6_addr(at->address, at->port, (struct sockaddr_in6 *)address) == 0;
}

/* SO_REUSEPORT would let a second server of the same user share the port by mistake; a plain bind finds it out. */
static bool port_is_free(const struct sockaddr *address, socklen_t length)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    bool is_free = bind(fd, address, length) == 0;
    close(fd);
    return is_free;
}

/* 0, or libuv's error. */
static int listen_on(struct listener *listener, const struct sockaddr *address)
{
    int on = 1, fd;
    int error = uv_tcp_init_ex(loop_uv(listener->home->loop), &listener->tcp, address->sa_family);
    listener->tcp.data = listener;
    if (error == 0)
        error = uv_fileno((uv_handle_t *)&listener->tcp, &fd);
    if (error == 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        error = -errno;
    if (error == 0)
        error = uv_tcp_bind(&listener->tcp, address, 0);
    if (error == 0)
        error = uv_listen((uv_stream_t *)&listener->tcp, LISTEN_BACKLOG, on_connection);
    return error;
}

static int bound_port(const uv_tcp_t *tcp)
{
    struct sockaddr_storage bound = {0};
    int length = sizeof(bound);
    uv_tcp_getsockname(tcp, (struct sockaddr *)&bound, &length);
    return ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                             : ((struct sockaddr_in *)&bound)->sin_port);
}

bool listener_open(struct listener *listener, struct server_loop *home, const struct listen_at *at, int *port)
{
    struct sockaddr_storage address = {0};
    listener->home = home;
    if (!resolve(at, &address)) {
        log_error("the address to listen on is not a numeric IP address", LOG_C("address", at->address));
        return false;
    }
    if (at->alone && at->port != 0 && !port_is_free((struct sockaddr *)&address, sizeof(address))) {
        log_error("the port is in use by another program; choose another one", LOG_INT("port", at->port),
                  LOG_C("setting", at->setting));
        return false;
    }
    int error = listen_on(listener, (struct sockaddr *)&address);
    if (error != 0) {
        log_error("cannot listen", LOG_C("address", at->address), LOG_INT("port", at->port),
                  LOG_C("reason", uv_strerror(error)));
        return false;
    }
    listener->open = true;
    *port = bound_port(&listener->tcp);
    return true;
}

void listener_close(struct listener *listener)
{
    if (listener->open)
        uv_close((uv_handle_t *)&listener->tcp, NULL);
    listener->open = false;
}
