/*
 * What coord.c and the adapters share; nobody outside of coord/ includes it. An
 * adapter embeds struct coord as its first member and answers through its table
 * of functions. coord.c has checked sizes before an adapter is called.
 */
#ifndef COORD_ADAPTER_H
#define COORD_ADAPTER_H

#include "coord/coord.h"

struct coord_adapter {
    enum coord_outcome (*lock)(struct coord *coord, struct coord_lock *lock);
    enum coord_outcome (*unlock)(struct coord *coord, const struct coord_lock *lock);
    enum coord_outcome (*sequence)(struct coord *coord, struct str key, int64_t *value);
    enum coord_outcome (*sequence_raise)(struct coord *coord, struct str key, int64_t floor);
    enum coord_outcome (*count)(struct coord *coord, struct str key, int64_t add, int64_t ttl_ms, int64_t *sum);
    enum coord_outcome (*rate)(struct coord *coord, struct str key, uint32_t limit, int64_t window_ms,
                               int64_t *retry_after_ms);
    enum coord_outcome (*set)(struct coord *coord, struct str key, struct str value, int64_t ttl_ms);
    enum coord_outcome (*get)(struct coord *coord, struct str key, struct arena *arena, struct str *value,
                              int64_t *ttl_ms);
    enum coord_outcome (*remove)(struct coord *coord, struct str key);
    enum coord_outcome (*publish)(struct coord *coord, struct str channel, struct str message);
    struct coord_subscription *(*subscribe)(struct coord *coord, struct str channel,
                                            struct coord_subscriber subscriber);
    void (*unsubscribe)(struct coord_subscription *subscription);
    void (*close_loop)(struct coord *coord);
    void (*close)(struct coord *coord);
    const char *(*trouble)(struct coord *coord);
};

struct coord {
    const struct coord_adapter *adapter;
};

/* An adapter's subscription begins with this. */
struct coord_subscription {
    struct coord *coord;
};

/* NULL when there is no memory. */
struct coord *coord_local_open(const struct coord_settings *settings);
struct coord *coord_redis_open(const struct coord_settings *settings);

#endif
