/* Puts the server together from its parts, runs it, and takes it apart again. */
#include "command_serve.h"

#include "base/log.h"
#include "base/processors.h"
#include "base/turns.h"
#include "command.h"
#include "command_config.h"
#include "coord/coord.h"
#include "db/db.h"
#include "gateway/gateway.h"
#include "http/server.h"
#include "installation.h"
#include "pii_settings.h"
#include "redis_settings.h"
#include "schema.h"
#include "services/app.h"
#include "services/auth/auth.h"
#include "services/system/metrics.h"
#include "services/system/neighbours.h"
#include "services/system/system.h"
#include "services/ticket/ticket.h"
#include "task/offload.h"

#include <stdio.h>
#include <sys/resource.h>

enum {
    LOCAL_COORD_ENTRIES = 256 * 1024, /* more than requests can be under way */
    SPARE_FILES = 256,
};

static void on_loop_started(void *context, size_t index)
{
    struct app *app = context;
    ticket_loop_started(app->ticket, index);
    auth_loop_started(app->auth, index);
    if (index == 0)
        revoked_start(app->revoked);
    if (index == 0 && app->neighbours)
        neighbours_start(app->neighbours);
}

static bool on_loop_busy(void *context)
{
    struct app *app = context;
    return ticket_busy(app->ticket);
}

static void on_loop_stopping(void *context, size_t index)
{
    struct app *app = context;
    ticket_loop_stopping(app->ticket);
    auth_loop_stopping(app->auth, index);
    if (index == 0)
        revoked_stop(app->revoked);
    if (index == 0 && app->neighbours)
        neighbours_stop(app->neighbours);
    coord_close_loop(app->coord);
}

static bool filter(struct request *rq)
{
    return gateway_admits(app_of(rq)->gateway, rq);
}

/* Each connection is a file descriptor: as many as the settings allow, or as the system does. */
static void allow_files(int64_t connections)
{
    struct rlimit limit;
    rlim_t wanted = (rlim_t)(connections + SPARE_FILES);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    if (limit.rlim_max < wanted)
        limit.rlim_max = wanted;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        log_warn("the system allows fewer open files than MAX_CONNECTIONS needs; raise its limit",
                 LOG_INT("allowed", (int64_t)limit.rlim_cur), LOG_INT("wanted", (int64_t)wanted));
}

static size_t max_streams(const struct settings *settings)
{
    int64_t streams = settings->max_connections * settings->max_streams_percent / 100;
    return streams > 0 ? (size_t)streams : 1;
}

static struct server_settings server_settings_from(const struct settings *settings, const struct cidr_list *trusted)
{
    return (struct server_settings){
        .address = settings->bind_address.ptr,
        .port = (int)settings->app_port,
        .internal_address = settings->internal_port ? settings->internal_bind.ptr : NULL,
        .internal_port = (int)settings->internal_port,
        .threads = (size_t)settings->threads,
        .threads_keep_core = settings->threads_keep_core,
        .max_connections = (size_t)settings->max_connections,
        .max_connections_per_address = (size_t)settings->max_connections_per_address,
        .reserved_connections = (size_t)settings->reserved_connections,
        .max_streams = max_streams(settings),
        .max_streams_per_address = (size_t)settings->max_streams_per_address,
        .max_unsent_bytes = (size_t)settings->max_unsent_bytes,
        .max_unsent_bytes_per_address = (size_t)settings->max_unsent_bytes_per_address,
        .max_tasks = (size_t)settings->max_tasks,
        .header_timeout_ms = settings->header_timeout_ms,
        .body_timeout_ms = settings->body_timeout_ms,
        .idle_timeout_ms = settings->idle_timeout_ms,
        .write_timeout_ms = settings->write_timeout_ms,
        .request_timeout_ms = settings->request_timeout_ms,
        .stream_max_age_ms = settings->stream_max_age_ms,
        .drain_timeout_ms = settings->drain_timeout_ms,
        .max_header_bytes = (size_t)settings->max_header_bytes,
        .max_request_line_bytes = (size_t)settings->max_request_line_bytes,
        .max_request_memory = (size_t)settings->max_request_memory,
        .trusted_proxies = trusted->count ? trusted : NULL,
        .cors_origins = settings->cors_origins,
    };
}

static struct db *open_database(const struct settings *settings, const char *service)
{
    return db_open(&(struct db_settings){
        .service = service,
        .url = settings->database_url.len ? settings->database_url.ptr : NULL,
        .directory = settings->data_dir.ptr,
        .connections = (size_t)settings->database_connections,
        .max_waiting = (size_t)settings->database_queue,
        .statement_timeout_ms = settings->database_statement_timeout_ms,
    });
}

/* A server that everybody can reach and that believes whatever name it is told: right only for a test. */
static void warn_of_trust(const struct settings *settings)
{
    struct in6_addr address;
    bool reachable = cidr_parse_address(settings->bind_address, &address) && !cidr_is_loopback(&address);
    if (reachable && settings->fcfs_trust_user_header == TRUST_USER_HEADER_ALWAYS)
        log_warn(
            "FCFS_TRUST_USER_HEADER=1 on an address that others can reach: whoever does can buy, and give back, in "
            "anybody's name; auto believes this machine and a gateway with GATEWAY_TOKEN only",
            LOG_STR("header", settings->fcfs_user_header));
}

static bool uses_redis(const struct settings *settings)
{
    return settings->redis_url.len || settings->redis_host.len;
}

static void announce_address(const struct app *app, const char *installation)
{
    int port = server_port(app->server);
    log_info("open for business", LOG_INT("port", port),
             LOG_C("database", app->settings->database_url.len ? "PostgreSQL" : "SQLite"),
             LOG_C("state", uses_redis(app->settings) ? "Redis" : "in process"), LOG_C("installation", installation));
    printf("Tickettock is open at http://localhost:%d/  (API: /docs, operator: /admin)\n", port);
    fflush(stdout);
}

/* Passwords are checked by half of the processors: the others have requests to serve. Those who wait are requests in
 * progress; most of what may be in progress is kept for others. */
static bool open_auth(struct app *app)
{
    const struct settings *settings = app->settings;
    size_t processors = processors_count();
    size_t threads = settings->password_threads ? (size_t)settings->password_threads
                     : processors > 3           ? processors / 2
                                                : 1;
    int64_t share = settings->max_tasks / 4,
            waiting = settings->password_queue < share ? settings->password_queue : share;
    app->offload = offload_create(threads, (size_t)waiting, settings->password_wait_ms);
    app->auth = app->offload ? auth_create(app) : NULL;
    return app->auth != NULL;
}

static bool open_gateway(struct app *app)
{
    app->revoked = revoked_create(app->accounts, app->coord);
    app->gateway = app->revoked ? gateway_create(&(struct gateway_parts){
                                      .settings = app->settings,
                                      .keys = app->keys,
                                      .coord = app->coord,
                                      .revoked = app->revoked,
                                      .loops = server_loop_count(app->server),
                                  })
                                : NULL;
    return app->gateway != NULL;
}

static bool open_parts(struct app *app, struct arena *arena, const struct cidr_list *trusted,
                       char installation[INSTALLATION_ID_SIZE])
{
    const struct settings *settings = app->settings;
    if (!schema_prepare(settings) || !(app->pii = pii_open_from(settings)) ||
        !installation_read(settings, installation))
        return false;
    app->keys = token_keys_read(settings, pii_derived_key(app->pii, arena, "guests' cookies"), arena);
    if (!app->keys)
        return false;
    server_block_signals();
    app->reservations = open_database(settings, "reservation_service");
    app->accounts = app->reservations ? open_database(settings, "auth_service") : NULL;
    app->coord = app->accounts ? redis_settings_open(settings, installation, LOCAL_COORD_ENTRIES, arena) : NULL;
    if (!app->coord)
        return false;
    if (settings->database_url.len && !uses_redis(settings) &&
        !(app->neighbours = neighbours_create(app->reservations)))
        return false;
    app->router = router_create();
    router_add(app->router, system_routes, system_route_count);
    router_add(app->router, auth_routes, auth_route_count);
    router_add(app->router, ticket_routes, ticket_route_count);

    allow_files(settings->max_connections + settings->reserved_connections);
    struct server_settings server = server_settings_from(settings, trusted);
    struct server_hooks hooks = {
        .app = app,
        .loop_started = on_loop_started,
        .loop_busy = on_loop_busy,
        .loop_stopping = on_loop_stopping,
        .filter = filter,
    };
    app->server = server_create(&server, app->router, &hooks);
    app->ticket =
        app->server && open_gateway(app) && open_auth(app) ? ticket_create(app, server_loop_count(app->server)) : NULL;
    if (app->ticket)
        system_watch_metrics(app);
    return app->ticket != NULL;
}

/* The loops first: they may still hold messages of the services. */
static void close_parts(struct app *app)
{
    if (app->server)
        server_destroy(app->server);
    if (app->ticket)
        ticket_destroy(app->ticket);
    if (app->auth)
        auth_destroy(app->auth);
    if (app->offload)
        offload_destroy(app->offload);
    if (app->gateway)
        gateway_destroy(app->gateway);
    if (app->neighbours)
        neighbours_destroy(app->neighbours);
    if (app->revoked)
        revoked_destroy(app->revoked);
    if (app->router)
        router_destroy(app->router);
    if (app->coord)
        coord_close(app->coord);
    if (app->accounts)
        db_close(app->accounts);
    if (app->reservations)
        db_close(app->reservations);
    if (app->pii)
        pii_close(app->pii);
}

static int serve(const struct settings *settings, struct arena *arena, void *context)
{
    (void)context;
    struct app app = {.settings = settings};
    struct cidr_list trusted;
    if (!cidr_parse_list(settings->trusted_proxies, &trusted)) {
        log_error("TRUSTED_PROXIES must be a list of networks, as in 10.0.0.0/8,127.0.0.1");
        return EXIT_MISUSED;
    }
    turns_shorten(TURN_SHORT_NS); /* before there are threads; where it cannot be, requests only wait a little longer */
    char installation[INSTALLATION_ID_SIZE];
    bool opened = open_parts(&app, arena, &trusted, installation);
    if (opened) {
        warn_of_trust(settings);
        announce_address(&app, installation);
        server_run(app.server);
        log_info("closed");
    }
    close_parts(&app);
    return opened ? EXIT_FINE : EXIT_FAILED;
}

int command_serve(int argument_count, char **arguments)
{
    return command_with_settings(argument_count, arguments, serve, NULL);
}
