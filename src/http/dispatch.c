/* A request on its way: which route, is it allowed, run the handler as a task, answer. */
#include "base/clock.h"
#include "base/log.h"
#include "http/client_address.h"
#include "http/connection.h"
#include "http/query.h"
#include "http/trace.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdatomic.h>

static struct server *server_of(const struct request *rq)
{
    return rq->connection->home->server;
}

void dispatch_route(struct request *rq)
{
    const struct router *router = server_router(server_of(rq));
    if (str_eq(rq->head.path, STR("*"))) { /* OPTIONS: about the server, not about an address */
        rq->allowed_methods = router_methods(router, rq->connection->internal);
        return;
    }
    struct route_match match = router_match(router, rq->head.method, rq->head.path);
    if (match.internal != rq->connection->internal)
        match = (struct route_match){0}; /* not even 405: for this listener it does not exist */
    rq->route = match.route;
    rq->allowed_methods = match.methods;
    for (size_t i = 0; i < ROUTE_PARAMS_MAX; i++)
        rq->params[i] = match.params[i];
}

/* A proxy that the settings do not name makes all its clients one, who is soon refused. Said once: strangers can send
 * the header as well, and must not fill the log. */
static void warn_of_unknown_proxy(const struct request *rq, const struct cidr_list *trusted)
{
    static atomic_bool warned;
    if (atomic_load_explicit(&warned, memory_order_relaxed) || !request_header(rq, STR("X-Forwarded-For")).ptr ||
        (trusted && cidr_contains(trusted, &rq->connection->address)) || atomic_exchange(&warned, true))
        return;
    log_warn("a peer that is not in TRUSTED_PROXIES sends X-Forwarded-For, which is not believed. If it is your proxy, "
             "add its address: until then all its clients count as one and are refused as duplicates");
}

static void find_client_address(struct request *rq)
{
    const struct cidr_list *trusted = server_settings(server_of(rq))->trusted_proxies;
    struct hop peer = {.text = rq->client_address, .address = rq->connection->address};
    warn_of_unknown_proxy(rq, trusted);
    if (trusted)
        rq->client_address = client_address(peer, &rq->head, trusted);
}

/* Cross-origin requests, by configuration: tells the browser what the page may do. */
static void add_cors(struct request *rq)
{
    struct str allowed = server_settings(server_of(rq))->cors_origins;
    struct str origin = request_header(rq, STR("Origin")), item;
    if (allowed.len == 0)
        return;
    if (!str_eq(allowed, STR("*")))
        reply_header(rq, STR("Vary"), STR("Origin")); /* also on what no page asked for: caches keep it for all */
    if (origin.len == 0)
        return;
    while (str_split(&allowed, ',', &item)) {
        item = str_trim(item);
        if (!str_eq(item, STR("*")) && !str_eq(item, origin))
            continue;
        reply_header(rq, STR("Access-Control-Allow-Origin"), str_eq(item, STR("*")) ? item : origin);
        reply_header(rq, STR("Access-Control-Expose-Headers"), STR("X-Trace-Id, ETag, Retry-After"));
        return;
    }
}

static void add_allow(struct request *rq, struct str header)
{
    struct buf names = BUF_INIT(128);
    for (enum http_method method = 0; method < HTTP_METHOD_COUNT; method++)
        if (rq->allowed_methods & 1u << method || method == HTTP_OPTIONS) {
            if (names.len)
                buf_add(&names, STR(", "));
            buf_add(&names, http_method_name(method));
        }
    reply_header(rq, header, buf_str(&names));
    buf_free(&names);
}

static void answer_options(struct request *rq)
{
    add_allow(rq, STR("Allow"));
    if (request_header(rq, STR("Access-Control-Request-Method")).len) {
        add_allow(rq, STR("Access-Control-Allow-Methods"));
        reply_header(rq, STR("Access-Control-Allow-Headers"),
                     request_header(rq, STR("Access-Control-Request-Headers")));
        reply_header(rq, STR("Access-Control-Max-Age"), STR("600"));
    }
    reply_empty(rq, 204);
}

static void handle(struct request *rq)
{
    for (size_t i = 0; i < ROUTE_PARAMS_MAX && rq->params[i].ptr; i++)
        if (!url_decode(&rq->arena, rq->params[i], false, &rq->params[i])) {
            reply_error(rq, ERR_BAD_REQUEST);
            return;
        }
    if (!query_accept(rq))
        return;
    const struct server_hooks *hooks = server_hooks(server_of(rq));
    if (hooks->filter && !hooks->filter(rq))
        return;
    rq->route->handle(rq);
}

/* What the arena's exhaustion leaves by: nothing that needs memory may follow. */
static void answer_exhausted(struct request *rq)
{
    log_warn("request needs too much memory", LOG_STR("path", rq->head.path));
    reply_discard(rq);
    reply_error(rq, ERR_OVERLOADED);
}

static void run_handler(struct request *rq)
{
    jmp_buf unwind;
    rq->unwind = &unwind;
    if (setjmp(unwind) == 0)
        handle(rq);
    else
        answer_exhausted(rq);
    rq->unwind = NULL;

    request_run_ends(rq);
    if (!rq->reply.sent && !rq->reply.streamed) {
        log_error("a handler did not answer", LOG_C("route", rq->route->path));
        reply_error(rq, ERR_INTERNAL);
    }
    answer_send(rq);
}

static void run_on_task(void *argument)
{
    struct request *rq = argument;
    task_set_deadline(rq->started_ns + server_settings(server_of(rq))->request_timeout_ms * NS_PER_MS);
    log_set_trace(str_make(rq->trace, TRACE_ID_LENGTH));
    run_handler(rq);
}

void dispatch_run(struct request *rq)
{
    trace_begin(rq);
    find_client_address(rq);
    add_cors(rq);
    if (rq->route && rq->route->immediate) {
        run_handler(rq);
        return;
    }
    if (rq->route && task_start(run_on_task, rq))
        return;
    if (rq->route) {
        reply_error(rq, ERR_OVERLOADED);
    } else if (rq->allowed_methods == 0) {
        reply_error(rq, ERR_NOT_FOUND);
    } else if (rq->head.method == HTTP_OPTIONS) {
        answer_options(rq);
    } else {
        add_allow(rq, STR("Allow"));
        reply_error(rq, ERR_METHOD_NOT_ALLOWED);
    }
    answer_send(rq);
}

void dispatch_refuse(struct request *rq, enum error error)
{
    trace_begin(rq);
    add_cors(rq);
    rq->reply.close = true;
    if (error == ERR_METHOD_NOT_ALLOWED)
        add_allow(rq, STR("Allow"));
    reply_error(rq, error);
    answer_send(rq);
}
