#include "coord/redis_events.h"

#include <stdlib.h>

struct events {
    redisAsyncContext *context; /* NULL once hiredis is about to free it */
    uv_poll_t poll;
    int wanted;  /* what hiredis waits for */
    int watched; /* what the poll handle watches */
    bool corked;
    void (*closed)(void *);
    void *argument;
};

static void ready(uv_poll_t *poll, int status, int happened)
{
    struct events *events = poll->data;
    if (status < 0)
        happened = UV_READABLE; /* reading finds the error and ends the connection */
    if (events->context && (happened & UV_READABLE))
        redisAsyncHandleRead(events->context);
    if (events->context && (happened & UV_WRITABLE))
        redisAsyncHandleWrite(events->context);
}

static void watch(struct events *events)
{
    int wanted = events->corked ? events->wanted & ~UV_WRITABLE : events->wanted;
    if (wanted == events->watched || !events->context)
        return;
    events->watched = wanted;
    if (wanted)
        uv_poll_start(&events->poll, wanted, ready);
    else
        uv_poll_stop(&events->poll);
}

static void add_read(void *data)
{
    struct events *events = data;
    events->wanted |= UV_READABLE;
    watch(events);
}

static void delete_read(void *data)
{
    struct events *events = data;
    events->wanted &= ~UV_READABLE;
    watch(events);
}

static void add_write(void *data)
{
    struct events *events = data;
    events->wanted |= UV_WRITABLE;
    watch(events);
}

static void delete_write(void *data)
{
    struct events *events = data;
    events->wanted &= ~UV_WRITABLE;
    watch(events);
}

static void poll_closed(uv_handle_t *handle)
{
    struct events *events = handle->data;
    events->closed(events->argument);
    free(events);
}

static void cleanup(void *data)
{
    struct events *events = data;
    events->context = NULL;
    uv_close((uv_handle_t *)&events->poll, poll_closed);
}

bool redis_events_attach(redisAsyncContext *context, uv_loop_t *loop, void (*closed)(void *argument), void *argument)
{
    struct events *events = calloc(1, sizeof(*events));
    if (!events)
        return false;
    if (uv_poll_init(loop, &events->poll, context->c.fd) != 0) {
        free(events);
        return false;
    }
    events->poll.data = events;
    events->context = context;
    events->closed = closed;
    events->argument = argument;
    context->ev.data = events;
    context->ev.addRead = add_read;
    context->ev.delRead = delete_read;
    context->ev.addWrite = add_write;
    context->ev.delWrite = delete_write;
    context->ev.cleanup = cleanup;
    return true;
}

void redis_events_cork(redisAsyncContext *context)
{
    struct events *events = context->ev.data;
    events->corked = true;
}

void redis_events_uncork(redisAsyncContext *context)
{
    struct events *events = context->ev.data;
    if (context->c.flags & REDIS_CONNECTED) /* before that, only the poll handle knows how connecting went */
        redisAsyncHandleWrite(context);
    events->corked = false; /* the poll handle, and so this memory, is closed later by the loop at the earliest */
    watch(events);
}
