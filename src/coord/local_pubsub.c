#include "coord/local_pubsub.h"

#include "task/loop.h"

#include <pthread.h>
#include <stdlib.h>

enum { QUEUE_MESSAGES = 4096, QUEUE_BYTES = 8 * 1024 * 1024, SUBSCRIPTIONS_MAX = 4096 };

struct message {
    struct message *next;
    size_t len;
    char bytes[];
};

/* A subscription stays in the list until its loop can no longer be about to deliver to it. */
struct subscription {
    struct coord_subscription base;
    struct subscription *next;
    struct local_pubsub *pubsub;
    struct loop *loop;
    struct coord_subscriber subscriber;
    struct loop_message wake;
    bool posted; /* `wake` is on its way to the loop */
    bool closed;
    bool delivering; /* the loop is calling the subscriber */
    bool gap;        /* to be told after what is queued */
    struct message *first, **end;
    size_t messages, bytes;
    size_t channel_len;
    char channel[];
};

struct local_pubsub {
    pthread_mutex_t mutex; /* guards everything here and in the subscriptions */
    struct subscription *subscriptions;
    size_t count;
};

struct local_pubsub *local_pubsub_create(void)
{
    struct local_pubsub *pubsub = calloc(1, sizeof(*pubsub));
    if (pubsub)
        pthread_mutex_init(&pubsub->mutex, NULL);
    return pubsub;
}

static void drop_queue(struct subscription *subscription)
{
    while (subscription->first) {
        struct message *message = subscription->first;
        subscription->first = message->next;
        free(message);
    }
    subscription->end = &subscription->first;
    subscription->messages = subscription->bytes = 0;
}

void local_pubsub_destroy(struct local_pubsub *pubsub)
{
    while (pubsub->subscriptions) {
        struct subscription *subscription = pubsub->subscriptions;
        pubsub->subscriptions = subscription->next;
        drop_queue(subscription);
        free(subscription);
    }
    pthread_mutex_destroy(&pubsub->mutex);
    free(pubsub);
}

static void free_if_over(struct subscription *subscription)
{
    struct local_pubsub *pubsub = subscription->pubsub;
    if (!subscription->closed || subscription->posted || subscription->delivering)
        return;
    struct subscription **link = &pubsub->subscriptions;
    while (*link != subscription)
        link = &(*link)->next;
    *link = subscription->next;
    pubsub->count--;
    free(subscription);
}

static void post(struct subscription *subscription)
{
    if (subscription->posted)
        return;
    subscription->posted = true;
    loop_post(subscription->loop, &subscription->wake);
}

/* The oldest message, or NULL for the gap behind the last one. False when there is nothing left to tell. */
static bool take_next(struct subscription *subscription, struct message **message)
{
    *message = subscription->first;
    if (*message) {
        subscription->first = (*message)->next;
        if (!subscription->first)
            subscription->end = &subscription->first;
        subscription->messages--;
        subscription->bytes -= (*message)->len;
        return true;
    }
    bool gap = subscription->gap && !subscription->closed;
    subscription->gap = false;
    return gap;
}

static void deliver(struct loop_message *wake)
{
    struct subscription *subscription = (struct subscription *)((char *)wake - offsetof(struct subscription, wake));
    struct local_pubsub *pubsub = subscription->pubsub;
    struct coord_subscriber *subscriber = &subscription->subscriber;
    struct message *message;
    pthread_mutex_lock(&pubsub->mutex);
    subscription->posted = false;
    subscription->delivering = true;
    size_t turns = subscription->messages + 1; /* what comes meanwhile has a turn of its own, after other events */
    while (turns-- > 0 && take_next(subscription, &message)) {
        pthread_mutex_unlock(&pubsub->mutex);
        if (message)
            subscriber->message(subscriber->context, str_make(message->bytes, message->len));
        else
            subscriber->gap(subscriber->context);
        free(message);
        pthread_mutex_lock(&pubsub->mutex);
    }
    subscription->delivering = false;
    if (subscription->first || subscription->gap)
        post(subscription);
    free_if_over(subscription);
    pthread_mutex_unlock(&pubsub->mutex);
}

static bool enqueue(struct subscription *subscription, struct str text)
{
    if (subscription->gap) /* it will read everything anew */
        return true;
    if (subscription->messages == QUEUE_MESSAGES || subscription->bytes + text.len > QUEUE_BYTES) {
        subscription->gap = true;
        return true;
    }
    struct message *message = malloc(sizeof(*message) + text.len);
    if (!message) {
        subscription->gap = true;
        return false;
    }
    message->next = NULL;
    message->len = text.len;
    if (text.len)
        memcpy(message->bytes, text.ptr, text.len);
    *subscription->end = message;
    subscription->end = &message->next;
    subscription->messages++;
    subscription->bytes += text.len;
    return true;
}

bool local_pubsub_publish(struct local_pubsub *pubsub, struct str channel, struct str message)
{
    bool complete = true;
    pthread_mutex_lock(&pubsub->mutex);
    for (struct subscription *each = pubsub->subscriptions; each; each = each->next) {
        if (each->closed || !str_eq(str_make(each->channel, each->channel_len), channel))
            continue;
        complete = enqueue(each, message) && complete;
        post(each);
    }
    pthread_mutex_unlock(&pubsub->mutex);
    return complete;
}

struct coord_subscription *local_pubsub_subscribe(struct local_pubsub *pubsub, struct coord *coord, struct str channel,
                                                  struct coord_subscriber subscriber)
{
    struct subscription *subscription = calloc(1, sizeof(*subscription) + channel.len);
    if (!subscription)
        return NULL;
    subscription->base.coord = coord;
    subscription->pubsub = pubsub;
    subscription->loop = loop_current();
    subscription->subscriber = subscriber;
    subscription->wake.deliver = deliver;
    subscription->end = &subscription->first;
    subscription->channel_len = channel.len;
    memcpy(subscription->channel, channel.ptr, channel.len);
    pthread_mutex_lock(&pubsub->mutex);
    bool room = pubsub->count < SUBSCRIPTIONS_MAX;
    if (room) {
        pubsub->count++;
        subscription->next = pubsub->subscriptions;
        pubsub->subscriptions = subscription;
        subscription->gap = true; /* the first connection */
        post(subscription);
    }
    pthread_mutex_unlock(&pubsub->mutex);
    if (room)
        return &subscription->base;
    free(subscription);
    return NULL;
}

static void close_subscription(struct subscription *subscription)
{
    subscription->closed = true;
    subscription->gap = false;
    drop_queue(subscription);
    free_if_over(subscription);
}

void local_pubsub_unsubscribe(struct coord_subscription *base)
{
    struct subscription *subscription = (struct subscription *)base;
    struct local_pubsub *pubsub = subscription->pubsub;
    pthread_mutex_lock(&pubsub->mutex);
    close_subscription(subscription);
    pthread_mutex_unlock(&pubsub->mutex);
}

void local_pubsub_close_loop(struct local_pubsub *pubsub)
{
    struct loop *loop = loop_current();
    pthread_mutex_lock(&pubsub->mutex);
    struct subscription *next;
    for (struct subscription *each = pubsub->subscriptions; each; each = next) {
        next = each->next;
        if (each->loop == loop && !each->closed)
            close_subscription(each);
    }
    pthread_mutex_unlock(&pubsub->mutex);
}
