#include "coord/redis_link.h"

#include "base/clock.h"
#include "base/log.h"
#include "coord/redis_events.h"

#include <assert.h>
#include <stdlib.h>

enum { SCAN = 256, SHA_SIZE = 41, BYTES_MAX = 32 * 1024 * 1024 };

/* Requests that were sent as one command. A place is NULL when its task has left. */
struct redis_flight {
    struct redis_link *link;
    const struct redis_operation *operation;
    size_t bytes, count;
    struct redis_request *requests[];
};

struct redis_link {
    struct redis_connection connection; /* first: the connection's user finds the link by it */
    uv_prepare_t turn_ends;
    struct redis_request queue; /* a ring: queue.next is the oldest */
    size_t requests;            /* queued or sent */
    size_t bytes;               /* sent and not answered */
    bool scripts_lost;          /* Redis has forgotten them; they go before the next command */
    char sha[REDIS_SCRIPTS][SHA_SIZE];
    int64_t failure_logged_ns;
    struct redis_command command;
};

static struct redis_link *link_of(struct redis_connection *connection)
{
    return (struct redis_link *)connection;
}

struct redis_connection *redis_link_connection(struct redis_link *link)
{
    return &link->connection;
}

void redis_command_add(struct redis_command *command, struct str argument)
{
    assert(command->count < REDIS_ARGUMENTS);
    command->arguments[command->count] = argument.ptr ? argument.ptr : "";
    command->lengths[command->count++] = argument.len;
    command->bytes += argument.len;
}

void redis_command_add_joined(struct redis_command *command, const struct str *pieces, size_t count)
{
    char *text = command->text + command->text_used, *end = text;
    for (size_t i = 0; i < count; i++) {
        assert(pieces[i].len <= (size_t)(command->text + REDIS_TEXT - end));
        end = str_put(end, pieces[i]);
    }
    command->text_used += (size_t)(end - text);
    redis_command_add(command, str_make(text, (size_t)(end - text)));
}

void redis_command_add_ints(struct redis_command *command, const int64_t *numbers, size_t count)
{
    char *text = command->text + command->text_used, *end = text;
    assert(count * REDIS_INT_BYTES <= REDIS_TEXT - command->text_used);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            *end++ = ' ';
        if (numbers[i] < 0)
            *end++ = '-';
        end += format_uint(end, numbers[i] < 0 ? 0 - (uint64_t)numbers[i] : (uint64_t)numbers[i]);
    }
    command->text_used += (size_t)(end - text);
    redis_command_add(command, str_make(text, (size_t)(end - text)));
}

void redis_command_add_int(struct redis_command *command, int64_t number)
{
    redis_command_add_ints(command, &number, 1);
}

static void enqueue(struct redis_link *link, struct redis_request *request, struct redis_request *before)
{
    request->flight = NULL;
    request->next = before;
    request->previous = before->previous;
    request->previous->next = before->previous = request;
    link->requests++;
}

/* Takes the request off the queue; it goes on being counted by whoever has it now. */
static void dequeue(struct redis_request *request)
{
    request->previous->next = request->next;
    request->next->previous = request->previous;
    request->next = request->previous = NULL;
}

static void finish(struct redis_link *link, struct redis_request *request)
{
    link->requests--;
    wakeup_now(&request->wakeup);
}

/* The task leaves without an answer. */
static void take_back(struct redis_link *link, struct redis_request *request)
{
    if (request->flight) {
        request->flight->requests[request->place] = NULL; /* its place counts until the answer comes */
        return;
    }
    dequeue(request);
    link->requests--;
}

static bool is_error(const redisReply *reply, const char *code)
{
    return reply->type == REDIS_REPLY_ERROR && str_starts(str_make(reply->str, reply->len), str_from(code));
}

/* This server cannot serve us now, perhaps another one behind the same name can. */
static bool is_out_of_service(const redisReply *reply)
{
    return is_error(reply, "LOADING") || is_error(reply, "READONLY") || is_error(reply, "MASTERDOWN") ||
           is_error(reply, "CLUSTERDOWN") || is_error(reply, "NOAUTH");
}

/* Redis has lost its scripts: what was sent goes again, once, behind the scripts. */
static void send_again(struct redis_flight *flight)
{
    struct redis_link *link = flight->link;
    link->scripts_lost = true;
    for (size_t i = flight->count; i > 0; i--) {
        struct redis_request *request = flight->requests[i - 1];
        if (!request || request->again)
            continue;
        flight->requests[i - 1] = NULL;
        request->again = true;
        enqueue(link, request, link->queue.next);
    }
}

static void wake_all(struct redis_flight *flight, const redisReply *reply)
{
    for (size_t i = 0; i < flight->count; i++)
        if (flight->requests[i])
            flight->requests[i]->reply = reply;
    if (reply && reply->type != REDIS_REPLY_ERROR && flight->operation->share)
        flight->operation->share(flight->requests, flight->count, reply);
    for (size_t i = 0; i < flight->count; i++) {
        if (flight->requests[i])
            finish(flight->link, flight->requests[i]);
        else
            flight->link->requests--;
    }
    free(flight);
}

/* Runs on the loop's own stack, so each task goes on at once, while the reply is still there. */
static void answered(redisAsyncContext *context, void *answer, void *argument)
{
    struct redis_flight *flight = argument;
    struct redis_connection *connection = &flight->link->connection;
    const redisReply *reply = answer;
    flight->link->bytes -= flight->bytes;
    if (reply && connection->context == context) {
        connection->silence = 0;
        if (is_error(reply, "NOSCRIPT"))
            send_again(flight);
        else if (is_out_of_service(reply))
            redis_connection_fail(connection, reply->str);
    }
    wake_all(flight, reply);
}

static bool may_travel_with(const struct redis_request *first, const struct redis_request *other)
{
    const struct redis_operation *operation = first->operation;
    return other->operation == operation && str_eq(other->group, first->group) &&
           (!operation->alike || operation->alike(first, other));
}

/* Takes the oldest request and those that may travel with it. */
static struct redis_flight *gather(struct redis_link *link)
{
    struct redis_request *gathered[REDIS_BATCH];
    struct redis_request *first = link->queue.next, *each = first;
    size_t count = 0;
    for (int i = 0; i < SCAN && each != &link->queue && count < first->operation->batch; i++) {
        struct redis_request *next = each->next;
        if (may_travel_with(first, each)) {
            dequeue(each);
            gathered[count++] = each;
        }
        each = next;
    }
    struct redis_flight *flight = malloc(sizeof(*flight) + count * sizeof(void *));
    if (!flight) {
        for (size_t i = 0; i < count; i++)
            finish(link, gathered[i]);
        return NULL;
    }
    *flight = (struct redis_flight){.link = link, .operation = first->operation, .count = count};
    for (size_t i = 0; i < count; i++) {
        flight->requests[i] = gathered[i];
        gathered[i]->flight = flight;
        gathered[i]->place = i;
    }
    return flight;
}

static void send_flight(struct redis_link *link, struct redis_flight *flight)
{
    struct redis_command *command = &link->command;
    enum redis_script script = flight->operation->script;
    command->prefix = str_from(link->connection.server->prefix);
    command->count = 0;
    command->bytes = command->text_used = 0;
    if (script != SCRIPT_NONE) {
        redis_command_add(command, STR("EVALSHA"));
        redis_command_add(command, str_from(link->sha[script]));
    }
    flight->operation->compose(command, flight->requests, flight->count);
    flight->bytes = command->bytes;
    if (redisAsyncCommandArgv(link->connection.context, answered, flight, command->count, command->arguments,
                              command->lengths) == REDIS_OK)
        link->bytes += flight->bytes;
    else
        wake_all(flight, NULL);
}

static void script_loaded(redisAsyncContext *context, void *answer, void *script)
{
    struct redis_connection *connection = context->data;
    const redisReply *reply = answer;
    if (!reply || connection->context != context)
        return;
    if (reply->type == REDIS_REPLY_STRING && reply->len == SHA_SIZE - 1)
        memcpy(link_of(connection)->sha[(uintptr_t)script], reply->str, SHA_SIZE);
    else
        redis_connection_fail(connection, reply->type == REDIS_REPLY_ERROR ? reply->str : "it does not load scripts");
}

static void load_scripts(struct redis_link *link)
{
    for (uintptr_t script = 0; script < REDIS_SCRIPTS; script++)
        redisAsyncCommand(link->connection.context, script_loaded, (void *)script, "SCRIPT LOAD %s",
                          redis_scripts[script]);
    link->scripts_lost = false;
}

static void flush(uv_prepare_t *turn_ends)
{
    struct redis_link *link = turn_ends->data;
    redisAsyncContext *context = link->connection.context;
    if (link->connection.state != REDIS_READY || link->queue.next == &link->queue)
        return;
    redis_events_cork(context);
    if (link->scripts_lost)
        load_scripts(link);
    while (link->queue.next != &link->queue && link->bytes < BYTES_MAX) {
        struct redis_flight *flight = gather(link);
        if (flight)
            send_flight(link, flight);
    }
    redis_events_uncork(context);
}

static void ponged(redisAsyncContext *context, void *answer, void *argument)
{
    struct redis_connection *connection = context->data;
    const redisReply *reply = answer;
    (void)argument;
    if (!reply || connection->context != context)
        return;
    if (reply->type == REDIS_REPLY_ERROR)
        redis_connection_fail(connection, reply->str);
    else
        redis_connection_alive(connection);
}

static void ping(struct redis_connection *connection)
{
    redisAsyncCommand(connection->context, ponged, NULL, "PING");
}

static void greet(struct redis_connection *connection)
{
    load_scripts(link_of(connection));
    ping(connection);
}

static void is_ready(struct redis_connection *connection)
{
    (void)connection; /* what is queued goes when this turn of the loop ends */
}

/* Queued requests wait for the first attempt to reconnect, no longer. */
static void is_lost(struct redis_connection *connection)
{
    struct redis_link *link = link_of(connection);
    while (connection->failed && link->queue.next != &link->queue) {
        struct redis_request *request = link->queue.next;
        dequeue(request);
        finish(link, request);
    }
}

static void is_closed(struct redis_connection *connection)
{
    free(link_of(connection));
}

static const struct redis_user link_user = {
    .name = "commands",
    .greet = greet,
    .beat = ping,
    .ready = is_ready,
    .lost = is_lost,
    .closed = is_closed,
};

struct redis_link *redis_link_open(struct redis_server *server, uv_loop_t *loop)
{
    struct redis_link *link = calloc(1, sizeof(*link));
    if (!link)
        return NULL;
    link->queue.next = link->queue.previous = &link->queue;
    redis_connection_open(&link->connection, server, &link_user, loop);
    uv_prepare_init(loop, &link->turn_ends);
    link->turn_ends.data = link;
    link->connection.references++;
    uv_prepare_start(&link->turn_ends, flush);
    return link;
}

static void prepare_closed(uv_handle_t *handle)
{
    struct redis_link *link = handle->data;
    redis_connection_release(&link->connection);
}

void redis_link_close(struct redis_link *link)
{
    uv_close((uv_handle_t *)&link->turn_ends, prepare_closed);
    redis_connection_close(&link->connection);
}

static void log_failure(struct redis_link *link, struct str why)
{
    int64_t now_ns = clock_mono_ns();
    if (link->failure_logged_ns && now_ns - link->failure_logged_ns < NS_PER_S)
        return; /* thousands of requests may fail for the same reason */
    link->failure_logged_ns = now_ns;
    log_error("coordination command failed", LOG_STR("why", why));
}

enum coord_outcome redis_link_run(struct redis_link *link, struct redis_request *request, int64_t timeout_ms)
{
    struct redis_connection *connection = &link->connection;
    redis_connection_want(connection);
    bool down = connection->state == REDIS_CLOSED || (connection->failed && connection->state != REDIS_READY);
    if (down || link->requests >= REDIS_REQUESTS_MAX)
        return COORD_UNAVAILABLE;
    wakeup_prepare(&request->wakeup);
    enqueue(link, request, &link->queue);
    if (!wakeup_wait_until(&request->wakeup, clock_mono_ns() + timeout_ms * NS_PER_MS)) {
        take_back(link, request);
        return COORD_UNAVAILABLE;
    }
    const redisReply *reply = request->reply;
    if (!reply || is_out_of_service(reply) || is_error(reply, "BUSY"))
        return COORD_UNAVAILABLE;
    if (reply->type != REDIS_REPLY_ERROR)
        return COORD_OK;
    log_failure(link, str_make(reply->str, reply->len));
    return COORD_FAILED;
}
