/*
 * Publish/subscribe inside the process. A subscription belongs to the loop that
 * made it and has a bounded queue; a publisher on any thread fills it and posts
 * one message to the loop. What does not fit is dropped, and the subscriber is
 * told by `gap`.
 */
#ifndef COORD_LOCAL_PUBSUB_H
#define COORD_LOCAL_PUBSUB_H

#include "coord/adapter.h"

struct local_pubsub;

struct local_pubsub *local_pubsub_create(void);
void local_pubsub_destroy(struct local_pubsub *pubsub);

/* False when there was no memory for a copy of the message. Any thread. */
bool local_pubsub_publish(struct local_pubsub *pubsub, struct str channel, struct str message);

/* On a loop's thread. */
struct coord_subscription *local_pubsub_subscribe(struct local_pubsub *pubsub, struct coord *coord, struct str channel,
                                                  struct coord_subscriber subscriber);
void local_pubsub_unsubscribe(struct coord_subscription *subscription);

/* Ends the subscriptions of the current loop. */
void local_pubsub_close_loop(struct local_pubsub *pubsub);

#endif
