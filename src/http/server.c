#include "http/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/address_counts.h"
#include "http/connection.h"
#include "task/task.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { SWEEP_MS = 250, LISTEN_BACKLOG = 4096 };

struct server {
    struct server_settings settings;
    const struct router *router;
    struct server_hooks hooks;
    struct server_loop *loops;
    size_t loop_count;
    int port;
    struct address_counts *addresses;
    atomic_size_t connections;
    atomic_bool draining;
    pthread_t runner; /* the thread in server_run */
};

const struct server_settings *server_settings(const struct server *server)
{
    return &server->settings;
}

const struct server_hooks *server_hooks(const struct server *server)
{
    return &server->hooks;
}

const struct router *server_router(const struct server *server)
{
    return server->router;
}

int server_port(const struct server *server)
{
    return server->port;
}

size_t server_loop_count(const struct server *server)
{
    return server->loop_count;
}

size_t server_connections(const struct server *server)
{
    return atomic_load(&server->connections);
}

bool server_draining(const struct server *server)
{
    return atomic_load(&server->draining);
}

/* A proxy of ours brings many clients: only the limit in all holds for it. */
bool server_admit(struct server *server, const struct in6_addr *address)
{
    const struct server_settings *settings = &server->settings;
    bool is_proxy = settings->trusted_proxies && cidr_contains(settings->trusted_proxies, address);
    if (!address_counts_add(server->addresses, address,
                            is_proxy ? settings->max_connections : settings->max_connections_per_address))
        return false;
    if (atomic_fetch_add(&server->connections, 1) < server->settings.max_connections)
        return true;
    server_leave(server, address);
    return false;
}

void server_leave(struct server *server, const struct in6_addr *address)
{
    atomic_fetch_sub(&server->connections, 1);
    address_counts_remove(server->addresses, address);
}

/* Formatted once per second: "Date: …\r\n" would cost more than the rest of a head. */
struct str server_loop_date(struct server_loop *home)
{
    int64_t now = clock_wall_ms();
    if (now / MS_PER_S != home->date_second) {
        char date[CLOCK_HTTP_SIZE];
        clock_format_http(now, date);
        home->date_length = (size_t)snprintf(home->date, sizeof(home->date), "Date: %s\r\n", date);
        home->date_second = now / MS_PER_S;
    }
    return str_make(home->date, home->date_length);
}

/* Draining: the listener closes, idle connections close, the others after their
 * answer. When all are gone, or time is up, the loop stops. */

static void stop_if_drained(struct server_loop *home)
{
    const struct server_hooks *hooks = &home->server->hooks;
    bool overdue = (int64_t)uv_now(loop_uv(home->loop)) >= home->drain_until_ms;
    if (!home->draining || home->stopping || home->connection_count || task_count())
        return;
    if (hooks->loop_busy && hooks->loop_busy(hooks->app) && !overdue)
        return; /* the next sweep looks again */
    home->stopping = true;
    uv_close((uv_handle_t *)&home->sweep, NULL);
    if (hooks->loop_stopping)
        hooks->loop_stopping(hooks->app, home->index);
    loop_stop(home->loop);
}

void server_loop_connection_gone(struct server_loop *home)
{
    if (home->draining)
        stop_if_drained(home);
}

static void close_idle(struct server_loop *home, bool all)
{
    struct connection *next;
    for (struct connection *connection = home->connections; connection; connection = next) {
        next = connection->next;
        bool busy = connection->state == CONNECTION_RUNNING || connection->state == CONNECTION_WRITING ||
                    connection->state == CONNECTION_BODY ||
                    (connection->state == CONNECTION_HEAD && connection->input.len);
        if (all || !busy)
            connection_close(connection);
    }
}

static void on_drain(struct loop_message *message)
{
    struct server_loop *home = (struct server_loop *)((char *)message - offsetof(struct server_loop, drain));
    home->draining = true;
    home->drain_until_ms = (int64_t)uv_now(loop_uv(home->loop)) + home->server->settings.drain_timeout_ms;
    uv_close((uv_handle_t *)&home->listener, NULL);
    close_idle(home, false);
    stop_if_drained(home);
}

static void on_sweep(uv_timer_t *timer)
{
    struct server_loop *home = timer->data;
    int64_t now = (int64_t)uv_now(timer->loop);
    struct connection *next;
    for (struct connection *connection = home->connections; connection; connection = next) {
        next = connection->next; /* closing keeps the memory until the next round of the loop */
        connection_check_deadline(connection, now);
    }
    if (home->draining) {
        close_idle(home, now >= home->drain_until_ms);
        stop_if_drained(home);
    }
}

static void on_connection(uv_stream_t *listener, int status)
{
    if (status == 0)
        connection_accept(listener->data);
    else
        log_error("cannot accept a connection", LOG_C("reason", uv_strerror(status)));
}

/* Each loop has a listening socket of its own on the same port; the kernel spreads the connections. */
static bool listen_on(struct server_loop *home, struct sockaddr *address)
{
    int on = 1, fd;
    int error = uv_tcp_init_ex(loop_uv(home->loop), &home->listener, address->sa_family);
    home->listener.data = home;
    if (error == 0)
        error = uv_fileno((uv_handle_t *)&home->listener, &fd);
    if (error == 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0)
        error = -errno;
    if (error == 0)
        error = uv_tcp_bind(&home->listener, address, 0);
    if (error == 0)
        error = uv_listen((uv_stream_t *)&home->listener, LISTEN_BACKLOG, on_connection);
    if (error == 0) {
        struct sockaddr_storage bound;
        int length = sizeof(bound);
        error = uv_tcp_getsockname(&home->listener, (struct sockaddr *)&bound, &length);
        home->server->port = ntohs(bound.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&bound)->sin6_port
                                                               : ((struct sockaddr_in *)&bound)->sin_port);
    }
    if (error != 0)
        log_error("cannot listen", LOG_C("address", home->server->settings.address),
                  LOG_INT("port", home->server->settings.port), LOG_C("reason", uv_strerror(error)));
    return error == 0;
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

static bool resolve(const struct server_settings *settings, int port, struct sockaddr_storage *address)
{
    return uv_ip4_addr(settings->address, port, (struct sockaddr_in *)address) == 0 ||
           uv_ip6_addr(settings->address, port, (struct sockaddr_in6 *)address) == 0;
}

static bool open_loop(struct server *server, size_t index)
{
    struct server_loop *home = &server->loops[index];
    struct sockaddr_storage address = {0};
    *home = (struct server_loop){.server = server, .index = index, .drain.deliver = on_drain};
    home->loop = loop_create(server->settings.max_tasks);
    home->read_buffer = malloc(READ_BUFFER);
    if (!home->loop || !home->read_buffer) {
        log_error("no memory for a loop");
        return false;
    }
    int port = index == 0 ? server->settings.port : server->port;
    if (!resolve(&server->settings, port, &address)) {
        log_error("the address to listen on is not a numeric IP address", LOG_C("address", server->settings.address));
        return false;
    }
    if (index == 0 && port != 0 && !port_is_free((struct sockaddr *)&address, sizeof(address))) {
        log_error("the port is in use by another program; choose one with APP_PORT", LOG_INT("port", port));
        return false;
    }
    if (!listen_on(home, (struct sockaddr *)&address))
        return false;
    uv_timer_init(loop_uv(home->loop), &home->sweep);
    home->sweep.data = home;
    uv_timer_start(&home->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
    return true;
}

struct server *server_create(const struct server_settings *settings, const struct router *router,
                             const struct server_hooks *hooks)
{
    struct server *server = calloc(1, sizeof(*server));
    if (!server)
        return NULL;
    server->settings = *settings;
    server->router = router;
    server->hooks = *hooks;
    size_t wanted = settings->threads ? settings->threads : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    server->addresses = address_counts_create();
    server->loops = calloc(wanted, sizeof(*server->loops));
    bool opened = server->addresses && server->loops;
    while (opened && server->loop_count < wanted)
        opened = open_loop(server, server->loop_count++);
    if (opened)
        return server;
    /* A start that failed ends the program; the half-open loops go with it. */
    free(server->loops);
    free(server);
    return NULL;
}

static void *run_loop(void *argument)
{
    struct server_loop *home = argument;
    loop_run(home->loop);
    request_pool_free(home);
    return NULL;
}

static void on_start(struct loop_message *message)
{
    struct server_loop *home = (struct server_loop *)((char *)message - offsetof(struct server_loop, start));
    if (home->server->hooks.loop_started)
        home->server->hooks.loop_started(home->server->hooks.app, home->index);
}

void server_stop(struct server *server)
{
    pthread_kill(server->runner, SIGTERM);
}

static void drain(struct server *server)
{
    log_info("stopping: running requests finish first");
    atomic_store(&server->draining, true);
    for (size_t i = 0; i < server->loop_count; i++)
        loop_post(server->loops[i].loop, &server->loops[i].drain);
}

void server_block_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void wait_for_signal(void)
{
    sigset_t signals;
    int signal_number;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigwait(&signals, &signal_number);
}

void server_run(struct server *server)
{
    server_block_signals(); /* inherited by the loops: signals come to this thread only */
    server->runner = pthread_self();
    for (size_t i = 0; i < server->loop_count; i++) {
        struct server_loop *home = &server->loops[i];
        home->start.deliver = on_start;
        loop_post(home->loop, &home->start);
        if (pthread_create(&home->thread, NULL, run_loop, home) != 0) {
            log_error("cannot start a thread");
            abort();
        }
    }
    wait_for_signal();
    drain(server);
    for (size_t i = 0; i < server->loop_count; i++)
        pthread_join(server->loops[i].thread, NULL);
}

void server_destroy(struct server *server)
{
    for (size_t i = 0; i < server->loop_count; i++) {
        loop_destroy(server->loops[i].loop);
        free(server->loops[i].read_buffer);
    }
    address_counts_destroy(server->addresses);
    free(server->loops);
    free(server);
}
