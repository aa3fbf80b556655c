#include "coord/redis_subscribe.h"

#include <stdlib.h>

enum { SUBSCRIPTIONS_MAX = 4096 };

/* Channels are known by their names without the server's prefix; it is added and taken off here.
 *
 * Subscribing again to this channel is the heartbeat: hiredis 0.14 cannot PING while it is subscribed, since
 * it takes a message that comes in between for the answer. */
#define HEARTBEAT "heartbeat"

struct subscription {
    struct coord_subscription base;
    struct subscription *next;
    struct redis_listener *listener;
    struct coord_subscriber subscriber;
    bool live;   /* Redis has confirmed it on this connection */
    bool closed; /* to be freed when nobody walks over the list */
    size_t channel_len;
    char channel[];
};

struct redis_listener {
    struct redis_connection connection; /* first: the connection's user finds the listener by it */
    struct subscription *subscriptions;
    size_t count;
    unsigned walking; /* subscribers are being called */
    bool sweep;       /* closed subscriptions are in the list */
};

static struct redis_listener *listener_of(struct redis_connection *connection)
{
    return (struct redis_listener *)connection;
}

struct redis_connection *redis_listener_connection(struct redis_listener *listener)
{
    return &listener->connection;
}

static bool is_on(const struct subscription *subscription, struct str channel)
{
    return !subscription->closed && str_eq(str_make(subscription->channel, subscription->channel_len), channel);
}

static bool anybody_on(const struct redis_listener *listener, struct str channel)
{
    for (const struct subscription *each = listener->subscriptions; each; each = each->next)
        if (is_on(each, channel))
            return true;
    return false;
}

static void free_closed(struct redis_listener *listener)
{
    if (listener->walking || !listener->sweep)
        return;
    listener->sweep = false;
    for (struct subscription **link = &listener->subscriptions; *link;) {
        struct subscription *subscription = *link;
        if (!subscription->closed) {
            link = &subscription->next;
            continue;
        }
        *link = subscription->next;
        listener->count--;
        free(subscription);
    }
}

static void received(redisAsyncContext *context, void *answer, void *argument);

static void subscribe_to(struct redis_listener *listener, struct str channel)
{
    if (listener->connection.context)
        redisAsyncCommand(listener->connection.context, received, NULL, "SUBSCRIBE %s%b",
                          listener->connection.server->prefix, channel.ptr, channel.len);
}

static void confirmed(struct redis_listener *listener, struct str channel)
{
    if (str_eq(channel, STR(HEARTBEAT))) {
        redis_connection_alive(&listener->connection);
        return;
    }
    listener->walking++;
    for (struct subscription *each = listener->subscriptions; each; each = each->next) {
        if (!is_on(each, channel) || each->live)
            continue;
        each->live = true;
        each->subscriber.gap(each->subscriber.context);
    }
    listener->walking--;
    free_closed(listener);
}

static void deliver(struct redis_listener *listener, struct str channel, struct str message)
{
    listener->walking++;
    for (struct subscription *each = listener->subscriptions; each; each = each->next)
        if (each->live && is_on(each, channel))
            each->subscriber.message(each->subscriber.context, message);
    listener->walking--;
    free_closed(listener);
}

static struct str text_of(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING ? str_make(reply->str, reply->len) : str_make(NULL, 0);
}

/* Everything that comes: confirmations and messages. The channel is read from the reply itself, because hiredis
 * 0.14 may call with the argument of another channel. */
static void received(redisAsyncContext *context, void *answer, void *argument)
{
    struct redis_connection *connection = context->data;
    struct redis_listener *listener = listener_of(connection);
    const redisReply *reply = answer;
    (void)argument;
    if (!reply || connection->context != context)
        return;
    if (reply->type == REDIS_REPLY_ERROR) {
        redis_connection_fail(connection, reply->str);
        return;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3)
        return;
    struct str kind = text_of(reply->element[0]), channel = text_of(reply->element[1]);
    struct str prefix = str_from(connection->server->prefix);
    if (!str_starts(channel, prefix))
        return;
    channel = str_from_offset(channel, prefix.len);
    connection->silence = 0;
    if (str_eq(kind, STR("message")))
        deliver(listener, channel, text_of(reply->element[2]));
    else if (str_eq(kind, STR("subscribe")))
        confirmed(listener, channel);
}

static void beat(struct redis_connection *connection)
{
    subscribe_to(listener_of(connection), STR(HEARTBEAT));
}

static void is_ready(struct redis_connection *connection)
{
    struct redis_listener *listener = listener_of(connection);
    for (struct subscription *each = listener->subscriptions; each; each = each->next)
        if (!each->closed)
            subscribe_to(listener, str_make(each->channel, each->channel_len));
}

static void is_lost(struct redis_connection *connection)
{
    for (struct subscription *each = listener_of(connection)->subscriptions; each; each = each->next)
        each->live = false;
}

static void is_closed(struct redis_connection *connection)
{
    free(listener_of(connection));
}

static const struct redis_user listener_user = {
    .name = "subscriptions",
    .greet = beat,
    .beat = beat,
    .ready = is_ready,
    .lost = is_lost,
    .closed = is_closed,
};

struct redis_listener *redis_listener_open(struct redis_server *server, uv_loop_t *loop)
{
    struct redis_listener *listener = calloc(1, sizeof(*listener));
    if (!listener)
        return NULL;
    redis_connection_open(&listener->connection, server, &listener_user, loop);
    redis_connection_want(&listener->connection);
    return listener;
}

void redis_listener_close(struct redis_listener *listener)
{
    for (struct subscription *each = listener->subscriptions; each; each = each->next)
        each->closed = listener->sweep = true;
    free_closed(listener);
    redis_connection_close(&listener->connection);
}

struct coord_subscription *redis_listener_subscribe(struct redis_listener *listener, struct coord *coord,
                                                    struct str channel, struct coord_subscriber subscriber)
{
    struct subscription *subscription =
        listener->count < SUBSCRIPTIONS_MAX ? calloc(1, sizeof(*subscription) + channel.len) : NULL;
    if (!subscription)
        return NULL;
    subscription->base.coord = coord;
    subscription->listener = listener;
    subscription->subscriber = subscriber;
    subscription->channel_len = channel.len;
    memcpy(subscription->channel, channel.ptr, channel.len);
    subscription->next = listener->subscriptions;
    listener->subscriptions = subscription;
    listener->count++;
    if (listener->connection.state == REDIS_READY)
        subscribe_to(listener, channel);
    return &subscription->base;
}

void redis_listener_unsubscribe(struct coord_subscription *base)
{
    struct subscription *subscription = (struct subscription *)base;
    struct redis_listener *listener = subscription->listener;
    struct str channel = str_make(subscription->channel, subscription->channel_len);
    subscription->closed = listener->sweep = true;
    if (listener->connection.state == REDIS_READY && !anybody_on(listener, channel))
        redisAsyncCommand(listener->connection.context, NULL, NULL, "UNSUBSCRIBE %s%b",
                          listener->connection.server->prefix, channel.ptr, channel.len);
    free_closed(listener);
}
