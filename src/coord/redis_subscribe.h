/*
 * The connection of one loop that listens. It exists from the first subscription
 * of the loop on, and subscribes anew whenever it is connected; each subscriber
 * is then told by `gap` that it may have missed something. On the loop's thread.
 */
#ifndef COORD_REDIS_SUBSCRIBE_H
#define COORD_REDIS_SUBSCRIBE_H

#include "coord/adapter.h"
#include "coord/redis_connection.h"

struct redis_listener;

struct redis_listener *redis_listener_open(struct redis_server *server, uv_loop_t *loop);
/* Its subscriptions end with it. */
void redis_listener_close(struct redis_listener *listener);
struct redis_connection *redis_listener_connection(struct redis_listener *listener);

struct coord_subscription *redis_listener_subscribe(struct redis_listener *listener, struct coord *coord,
                                                    struct str channel, struct coord_subscriber subscriber);
void redis_listener_unsubscribe(struct coord_subscription *subscription);

#endif
