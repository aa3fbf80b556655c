#include "services/system/metrics.h"

#include "http/server.h"
#include "services/app.h"
#include "services/ticket/ticket.h"
#include "tables/metrics.h"

static double read_connections(void *context, size_t label)
{
    struct app *app = context;
    (void)label;
    return (double)server_connections(app->server);
}

static double read_streams(void *context, size_t label)
{
    struct app *app = context;
    (void)label;
    return (double)server_stream_count(app->server);
}

static double read_unsent(void *context, size_t label)
{
    struct app *app = context;
    (void)label;
    return (double)server_unsent_bytes(app->server);
}

static double read_attempts(void *context, size_t label)
{
    struct app *app = context;
    return (double)ticket_attempts(app->ticket, (enum ticket_attempt)label);
}

static double read_history_left_out(void *context, size_t label)
{
    struct app *app = context;
    (void)label;
    return (double)ticket_history_left_out(app->ticket);
}

static double read_history_dropped(void *context, size_t label)
{
    struct app *app = context;
    (void)label;
    return (double)ticket_history_dropped(app->ticket);
}

void system_watch_metrics(struct app *app)
{
    for (size_t i = 0; i < router_count(app->router); i++) {
        const struct route *route = router_route(app->router, i);
        metrics_name_route(route->index, http_method_name(route->method), str_from(route->path));
    }
    metrics_watch(METRIC_HTTP_CONNECTIONS, read_connections, app);
    metrics_watch(METRIC_HTTP_STREAMS, read_streams, app);
    metrics_watch(METRIC_HTTP_UNSENT, read_unsent, app);
    metrics_watch(METRIC_FCFS_ATTEMPTS, read_attempts, app);
    metrics_watch(METRIC_HISTORY_LEFT_OUT, read_history_left_out, app);
    metrics_watch(METRIC_HISTORY_DROPPED, read_history_dropped, app);
}

void get_metrics(struct request *rq)
{
    metrics_render(&rq->reply.body);
    reply_written(rq, 200, STR(METRICS_CONTENT_TYPE));
}
