#include "http/server.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/processors.h"
#include "http/address_counts.h"
#include "http/connection.h"
#include "task/task.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { SWEEP_MS = 250 };

struct server {
    struct server_settings settings;
    const struct router *router;
    struct server_hooks hooks;
    struct server_loop *loops;
    size_t loop_count;
    int port;
    struct address_counts *addresses;
    struct client_quota *unsent, *streams;
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

struct client_quota *server_unsent(const struct server *server)
{
    return server->unsent;
}

struct client_quota *server_streams(const struct server *server)
{
    return server->streams;
}

size_t server_stream_count(const struct server *server)
{
    return client_quota_total(server->streams);
}

size_t server_unsent_bytes(const struct server *server)
{
    return client_quota_total(server->unsent);
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
    if (!address_counts_add(server->addresses, address, 1,
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
    address_counts_remove(server->addresses, address, 1);
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
    uv_close((uv_handle_t *)&home->turn, NULL);
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
    listener_close(&home->listener);
    listener_close(&home->internal_listener);
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

/* The first loop finds the port, the others share it. */
static bool open_listeners(struct server_loop *home)
{
    struct server *server = home->server;
    const struct server_settings *settings = &server->settings;
    bool first = home->index == 0;
    struct listen_at at = {settings->address, first ? settings->port : server->port, "APP_PORT", first};
    struct listen_at internal_at = {settings->internal_address, settings->internal_port, "INTERNAL_PORT", first};
    home->internal_listener.internal = true;
    return listener_open(&home->listener, home, &at, &server->port) &&
           (!settings->internal_address ||
            listener_open(&home->internal_listener, home, &internal_at, &internal_at.port));
}

static bool open_loop(struct server *server, size_t index, size_t loops)
{
    struct server_loop *home = &server->loops[index];
    *home = (struct server_loop){.server = server, .index = index, .drain.deliver = on_drain};
    home->loop = loop_create(server->settings.max_tasks);
    home->read_buffer = malloc(READ_BUFFER);
    buf_init(&home->answer_front, ANSWER_FRONT_MAX);
    bool has_reserve = reserve_create(home, (server->settings.reserved_connections + loops - 1) / loops);
    if (!home->loop || !home->read_buffer || !has_reserve) {
        log_error("no memory for a loop");
        return false;
    }
    if (!open_listeners(home))
        return false;
    uv_timer_init(loop_uv(home->loop), &home->sweep);
    home->sweep.data = home;
    answer_turns_init(home);
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
    size_t wanted = settings->threads ? settings->threads : processors_count();
    server->addresses = address_counts_create();
    server->unsent = client_quota_create(settings->max_unsent_bytes, settings->max_unsent_bytes_per_address);
    server->streams = client_quota_create(settings->max_streams, settings->max_streams_per_address);
    server->loops = calloc(wanted, sizeof(*server->loops));
    bool opened = server->addresses && server->unsent && server->streams && server->loops;
    while (opened && server->loop_count < wanted)
        opened = open_loop(server, server->loop_count++, wanted);
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
    if (home->server->settings.threads_keep_core && home->server->loop_count == processors_count())
        processors_keep_to(home->index); /* where it cannot be, the system moves it about */
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
        free(server->loops[i].reserve);
        buf_free(&server->loops[i].answer_front);
    }
    address_counts_destroy(server->addresses);
    client_quota_destroy(server->unsent);
    client_quota_destroy(server->streams);
    free(server->loops);
    free(server);
}
