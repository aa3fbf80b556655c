/* The bare HTTP path, for `./dev bench http`: POST /echo reads a JSON body by descriptor and answers JSON. */
#include "base/json_read.h"
#include "base/log.h"
#include "http/server.h"

#include <stdio.h>
#include <stdlib.h>

struct echo {
    struct str user_name, phone;
};
static const struct json_field echo_fields[] = {
    JSON_FIELD(struct echo, user_name, "userName", .required = true, .max = 64),
    JSON_FIELD(struct echo, phone, "phone", .max = 32),
};
static const struct json_descriptor echo_descriptor = JSON_DESCRIPTOR(struct echo, echo_fields);

static void post_echo(struct request *rq)
{
    struct echo echo = {0};
    struct json_problem problem;
    if (!json_read(rq->body, &echo_descriptor, &echo, &rq->arena, &problem)) {
        reply_error_message(rq, ERR_VALIDATION, problem.message);
        return;
    }
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_string(&json, "userName", echo.user_name);
    json_end_object(&json);
    reply_json(rq, 200);
}

static const struct route routes[] = {
    {.method = HTTP_POST, .path = "/echo", .handle = post_echo, .body_limit = 4096},
};

int main(int argc, char **argv)
{
    log_setup(LOG_WARN, LOG_AUTO);
    struct router *router = router_create();
    router_add(router, routes, sizeof(routes) / sizeof(routes[0]));
    const struct server_settings settings = {
        .address = "127.0.0.1",
        .port = argc > 1 ? atoi(argv[1]) : 0,
        .max_connections = 20000,
        .max_connections_per_address = 20000,
        .max_streams = 20000,
        .max_streams_per_address = 20000,
        .stream_max_age_ms = 3600000,
        .max_unsent_bytes = 1 << 30,
        .max_unsent_bytes_per_address = 1 << 30,
        .max_tasks = 8192,
        .header_timeout_ms = 60000,
        .body_timeout_ms = 60000,
        .idle_timeout_ms = 600000,
        .write_timeout_ms = 10000,
        .request_timeout_ms = 10000,
        .drain_timeout_ms = 1000,
        .max_header_bytes = 16 * 1024,
        .max_request_line_bytes = 8 * 1024,
        .max_request_memory = 1024 * 1024,
    };
    struct server *server = server_create(&settings, router, &(struct server_hooks){0});
    if (!server)
        return 1;
    printf("http://127.0.0.1:%d\n", server_port(server));
    fflush(stdout);
    server_run(server);
    server_destroy(server);
    router_destroy(router);
    return 0;
}
