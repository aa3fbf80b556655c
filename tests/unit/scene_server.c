#include "scene_server.h"

#include "base/log.h"
#include "base/random.h"
#include "http/server.h"
#include "http/stream.h"
#include "task/task.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LARGE = 4 << 20 };

static struct server *server;
static atomic_int open_streams;
static char large[LARGE];

static void get_now(struct request *rq)
{
    reply_text(rq, 200, STR("text/plain"), STR("now"));
}

static void get_soon(struct request *rq)
{
    task_sleep(1);
    reply_text(rq, 200, STR("text/plain"), STR("soon"));
}

static void get_late(struct request *rq)
{
    task_sleep((int64_t)random_below(20));
    reply_text(rq, 200, STR("text/plain"), STR("late"));
}

static void get_large(struct request *rq)
{
    reply_fixed(rq, 200, STR("application/octet-stream"), str_make(large, sizeof(large)));
}

static void post_echo(struct request *rq)
{
    reply_text(rq, 200, STR("text/plain"), rq->body);
}

static void stream_closed(void *context)
{
    (void)context;
    atomic_fetch_sub(&open_streams, 1);
}

static void get_stream(struct request *rq)
{
    task_sleep(1);
    struct stream *stream = reply_stream(rq, (struct stream_owner){.closed = stream_closed});
    struct payload *payload = stream ? payload_create(STR("data: hello\n\n")) : NULL;
    if (!stream) {
        reply_error(rq, ERR_OVERLOADED);
        return;
    }
    atomic_fetch_add(&open_streams, 1);
    if (payload) {
        stream_write(stream, payload);
        payload_release(payload);
    }
}

static void get_gauges(struct request *rq)
{
    struct str gauges = arena_format(&rq->arena, "%zu %d", server_connections(server), atomic_load(&open_streams));
    reply_text(rq, 200, STR("text/plain"), gauges);
}

static const struct route routes[] = {
    {.method = HTTP_GET, .path = "/now", .handle = get_now},
    {.method = HTTP_GET, .path = "/soon", .handle = get_soon},
    {.method = HTTP_GET, .path = "/late", .handle = get_late},
    {.method = HTTP_GET, .path = "/large", .handle = get_large},
    {.method = HTTP_POST, .path = "/echo", .handle = post_echo, .body_limit = 65536},
    {.method = HTTP_GET, .path = "/stream", .handle = get_stream},
    {.method = HTTP_GET, .path = "/gauges", .handle = get_gauges},
};

static int serve(int tell_port)
{
    log_setup(LOG_WARN, LOG_AUTO);
    struct router *router = router_create();
    router_add(router, routes, sizeof(routes) / sizeof(routes[0]));
    const struct server_settings settings = {
        .address = "127.0.0.1",
        .max_connections = 20000,
        .max_connections_per_address = 20000,
        .max_streams = 20000,
        .max_streams_per_address = 20000,
        .stream_max_age_ms = 3600000,
        .max_unsent_bytes = 1 << 30,
        .max_unsent_bytes_per_address = 1 << 30,
        .max_tasks = 4096,
        .header_timeout_ms = 10000,
        .body_timeout_ms = 10000,
        .idle_timeout_ms = 30000,
        .write_timeout_ms = 10000,
        .request_timeout_ms = 10000,
        .drain_timeout_ms = 2000,
        .max_header_bytes = 16 * 1024,
        .max_request_line_bytes = 8 * 1024,
        .max_request_memory = 1024 * 1024,
    };
    server = server_create(&settings, router, &(struct server_hooks){0});
    int port = server ? server_port(server) : 0;
    if (write(tell_port, &port, sizeof(port)) != sizeof(port) || !server)
        return 1;
    close(tell_port);
    server_run(server);
    server_destroy(server);
    router_destroy(router);
    return 0;
}

void scene_server_start(struct scene_server *scene)
{
    int ends[2];
    if (pipe(ends) != 0 || (scene->pid = fork()) < 0)
        abort();
    if (scene->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* never outlives the test */
        close(ends[0]);
        exit(serve(ends[1]));
    }
    close(ends[1]);
    if (read(ends[0], &scene->port, sizeof(scene->port)) != sizeof(scene->port) || scene->port == 0) {
        fputs("the server did not start\n", stderr);
        abort();
    }
    close(ends[0]);
}

int scene_server_stop(struct scene_server *scene)
{
    int status;
    kill(scene->pid, SIGTERM);
    if (waitpid(scene->pid, &status, 0) != scene->pid)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
