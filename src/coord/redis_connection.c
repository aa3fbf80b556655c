#include "coord/redis_connection.h"

#include "base/log.h"
#include "base/random.h"
#include "coord/redis_events.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum {
    BEAT_MS = 250,
    SILENT_BEATS = 4, /* a second, counted in turns of the loop: a loop that was held up must not blame Redis */
    PAUSE_MIN_MS = 50,
    PAUSE_MAX_MS = 1000,
};

static void attempt(struct redis_connection *connection);

void redis_connection_release(struct redis_connection *connection)
{
    if (--connection->references == 0)
        connection->user->closed(connection);
}

static void set_trouble(struct redis_connection *connection, const char *why)
{
    struct redis_server *server = connection->server;
    const char *text = why ? redis_trouble_text(&server->trouble, server->host, server->port, why) : NULL;
    const char *before = atomic_exchange(&connection->trouble, text);
    if (text && text != before)
        log_warn("coordination is not available", LOG_C("connection", connection->user->name), LOG_C("trouble", text));
    if (!text && before)
        log_info("coordination is available", LOG_C("connection", connection->user->name));
}

const char *redis_connection_trouble(struct redis_connection *connection)
{
    return atomic_load(&connection->trouble);
}

static void pause_is_over(uv_timer_t *timer)
{
    attempt(timer->data);
}

/* Half of the pause is chance, so that a fleet does not come back all at once. */
static void pause_before_next(struct redis_connection *connection)
{
    uint64_t pause = PAUSE_MIN_MS;
    for (unsigned i = 1; i < connection->attempts && pause < PAUSE_MAX_MS; i++)
        pause *= 2;
    pause = pause > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause;
    pause = pause / 2 + random_below(pause / 2 + 1);
    connection->state = REDIS_DOWN;
    uv_timer_start(&connection->timer, pause_is_over, pause, 0);
}

/* The single way out of CONNECTING and READY. The context is already gone or is going. */
static void lose(struct redis_connection *connection, const char *why, bool may_be_a_restart)
{
    bool was_good = connection->state == REDIS_READY && connection->attempts == 0;
    connection->context = NULL;
    set_trouble(connection, why);
    if (was_good && may_be_a_restart) {
        connection->state = REDIS_CONNECTING; /* commands may wait for the first attempt */
        uv_timer_start(&connection->timer, pause_is_over, 0, 0);
    } else {
        connection->failed = true;
        pause_before_next(connection);
    }
    connection->user->lost(connection);
}

void redis_connection_fail(struct redis_connection *connection, const char *why)
{
    redisAsyncContext *context = connection->context;
    if (connection->state != REDIS_CONNECTING && connection->state != REDIS_READY)
        return;
    lose(connection, why, false);
    if (context)
        redisAsyncFree(context); /* calls back all that is pending with NULL */
}

static void beat(uv_timer_t *timer)
{
    struct redis_connection *connection = timer->data;
    if (connection->silence >= SILENT_BEATS) {
        redis_connection_fail(connection, "no answer for a second");
        return;
    }
    connection->silence++;
    connection->user->beat(connection);
}

void redis_connection_alive(struct redis_connection *connection)
{
    connection->silence = 0;
    if (connection->state == REDIS_READY)
        connection->attempts = 0; /* a connection that lives for a beat is a good one */
    if (connection->state != REDIS_CONNECTING)
        return;
    connection->state = REDIS_READY;
    connection->failed = false;
    set_trouble(connection, NULL);
    uv_timer_start(&connection->timer, beat, BEAT_MS, BEAT_MS);
    connection->user->ready(connection);
}

static void connected(const redisAsyncContext *context, int status)
{
    struct redis_connection *connection = context->data;
    if (status != REDIS_OK && connection->context == context)
        lose(connection, context->c.errstr, false); /* hiredis frees the context when we return */
}

static void disconnected(const redisAsyncContext *context, int status)
{
    struct redis_connection *connection = context->data;
    (void)status;
    if (connection->context == context)
        lose(connection, context->err ? context->errstr : "the connection was closed", true);
}

static void signed_in(redisAsyncContext *context, void *answer, void *what)
{
    struct redis_connection *connection = context->data;
    const redisReply *reply = answer;
    if (connection->context != context || !reply || reply->type != REDIS_REPLY_ERROR)
        return; /* without a reply, the connection is lost, as `disconnected` will tell */
    char why[200];
    snprintf(why, sizeof(why), "%s: %s", (const char *)what, reply->str);
    redis_connection_fail(connection, why);
}

static void sign_in(struct redis_connection *connection)
{
    struct redis_server *server = connection->server;
    redisAsyncContext *context = connection->context;
    if (server->password && server->username)
        redisAsyncCommand(context, signed_in, (void *)"signing in", "AUTH %s %s", server->username, server->password);
    else if (server->password)
        redisAsyncCommand(context, signed_in, (void *)"signing in", "AUTH %s", server->password);
    if (server->database)
        redisAsyncCommand(context, signed_in, (void *)"choosing the database", "SELECT %d", server->database);
    connection->user->greet(connection);
}

static void context_closed(void *argument)
{
    redis_connection_release(argument);
}

/* The address is numeric, so hiredis does not ask a name server, which would hold up the loop. */
static void connect_to(struct redis_connection *connection, const char *address)
{
    redisAsyncContext *context = redisAsyncConnect(address, connection->server->port);
    if (!context) {
        redis_connection_fail(connection, "out of memory");
        return;
    }
    if (context->err || !redis_events_attach(context, connection->loop, context_closed, connection)) {
        redis_connection_fail(connection, context->err ? context->errstr : "out of memory");
        redisAsyncFree(context);
        return;
    }
    connection->references++;
    context->data = connection;
    connection->context = context;
    redisAsyncSetConnectCallback(context, connected);
    redisAsyncSetDisconnectCallback(context, disconnected);
    sign_in(connection);
}

static void resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
    struct redis_connection *connection = request->data;
    char address[64];
    connection->is_resolving = false;
    if (status == 0 &&
        getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST) != 0)
        status = UV_EAI_FAIL;
    uv_freeaddrinfo(found);
    if (connection->state == REDIS_CONNECTING && !connection->context) {
        if (status == 0)
            connect_to(connection, address);
        else
            redis_connection_fail(connection, uv_strerror(status));
    }
    redis_connection_release(connection);
}

static void still_connecting(uv_timer_t *timer)
{
    struct redis_connection *connection = timer->data;
    if (++connection->silence >= SILENT_BEATS)
        redis_connection_fail(connection, "no answer within a second");
}

static void attempt(struct redis_connection *connection)
{
    connection->state = REDIS_CONNECTING;
    connection->number++;
    connection->attempts++;
    connection->silence = 0;
    uv_timer_start(&connection->timer, still_connecting, BEAT_MS, BEAT_MS);
    if (connection->is_resolving)
        return; /* the name server is slow; its answer to the last attempt serves this one */
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    connection->resolving.data = connection;
    int status =
        uv_getaddrinfo(connection->loop, &connection->resolving, resolved, connection->server->host, NULL, &hints);
    if (status != 0) {
        redis_connection_fail(connection, uv_strerror(status));
        return;
    }
    connection->is_resolving = true;
    connection->references++;
}

void redis_connection_open(struct redis_connection *connection, struct redis_server *server,
                           const struct redis_user *user, uv_loop_t *loop)
{
    *connection = (struct redis_connection){.server = server, .user = user, .loop = loop, .references = 1};
    uv_timer_init(loop, &connection->timer);
    connection->timer.data = connection;
    atomic_store(&connection->trouble,
                 redis_trouble_text(&server->trouble, server->host, server->port, "not connected yet"));
}

void redis_connection_want(struct redis_connection *connection)
{
    if (connection->state == REDIS_IDLE)
        attempt(connection);
}

static void timer_closed(uv_handle_t *handle)
{
    redis_connection_release(handle->data);
}

void redis_connection_close(struct redis_connection *connection)
{
    redisAsyncContext *context = connection->context;
    connection->state = REDIS_CLOSED;
    connection->context = NULL;
    if (connection->is_resolving)
        uv_cancel((uv_req_t *)&connection->resolving);
    uv_close((uv_handle_t *)&connection->timer, timer_closed);
    if (context)
        redisAsyncFree(context);
}
