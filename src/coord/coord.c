#include "coord/coord.h"

#include "base/log.h"
#include "coord/adapter.h"

#include <assert.h>

struct coord *coord_open(const struct coord_settings *settings)
{
    return settings->host ? coord_redis_open(settings) : coord_local_open(settings);
}

/* Keys are made of what clients send, so their length is input, not an invariant. */
static bool fits(struct str text, size_t max)
{
    if (text.len > 0 && text.len <= max)
        return true;
    log_warn("coordination key, owner or value has a bad length", LOG_INT("length", (int64_t)text.len),
             LOG_INT("max", (int64_t)max));
    return false;
}

static bool lock_fits(const struct coord_lock *lock)
{
    assert(lock->count > 0 && lock->count <= COORD_LOCK_KEYS);
    for (size_t i = 0; i < lock->count; i++) {
        assert(lock->keys[i].limit > 0);
        if (!fits(lock->keys[i].key, COORD_KEY_MAX))
            return false;
    }
    return fits(lock->owner, COORD_OWNER_MAX);
}

enum coord_outcome coord_lock(struct coord *coord, struct coord_lock *lock)
{
    assert(lock->ttl_ms > 0);
    return lock_fits(lock) ? coord->adapter->lock(coord, lock) : COORD_FAILED;
}

enum coord_outcome coord_unlock(struct coord *coord, const struct coord_lock *lock)
{
    return lock_fits(lock) ? coord->adapter->unlock(coord, lock) : COORD_FAILED;
}

enum coord_outcome coord_sequence(struct coord *coord, struct str key, int64_t *value)
{
    return fits(key, COORD_KEY_MAX) ? coord->adapter->sequence(coord, key, value) : COORD_FAILED;
}

enum coord_outcome coord_sequence_raise(struct coord *coord, struct str key, int64_t floor)
{
    return fits(key, COORD_KEY_MAX) ? coord->adapter->sequence_raise(coord, key, floor) : COORD_FAILED;
}

enum coord_outcome coord_count(struct coord *coord, struct str key, int64_t add, int64_t ttl_ms, int64_t *sum)
{
    assert(ttl_ms >= 0);
    return fits(key, COORD_KEY_MAX) ? coord->adapter->count(coord, key, add, ttl_ms, sum) : COORD_FAILED;
}

enum coord_outcome coord_rate(struct coord *coord, struct str key, uint32_t limit, int64_t window_ms,
                              int64_t *retry_after_ms)
{
    assert(limit > 0 && window_ms > 0);
    return fits(key, COORD_KEY_MAX) ? coord->adapter->rate(coord, key, limit, window_ms, retry_after_ms) : COORD_FAILED;
}

enum coord_outcome coord_set(struct coord *coord, struct str key, struct str value, int64_t ttl_ms)
{
    assert(ttl_ms >= 0);
    bool good = fits(key, COORD_KEY_MAX) && (value.len == 0 || fits(value, COORD_VALUE_MAX));
    return good ? coord->adapter->set(coord, key, value, ttl_ms) : COORD_FAILED;
}

enum coord_outcome coord_get(struct coord *coord, struct str key, struct arena *arena, struct str *value,
                             int64_t *ttl_ms)
{
    return fits(key, COORD_KEY_MAX) ? coord->adapter->get(coord, key, arena, value, ttl_ms) : COORD_FAILED;
}

enum coord_outcome coord_delete(struct coord *coord, struct str key)
{
    return fits(key, COORD_KEY_MAX) ? coord->adapter->remove(coord, key) : COORD_FAILED;
}

enum coord_outcome coord_publish(struct coord *coord, struct str channel, struct str message)
{
    bool good = fits(channel, COORD_KEY_MAX) && (message.len == 0 || fits(message, COORD_VALUE_MAX));
    return good ? coord->adapter->publish(coord, channel, message) : COORD_FAILED;
}

struct coord_subscription *coord_subscribe(struct coord *coord, struct str channel, struct coord_subscriber subscriber)
{
    return fits(channel, COORD_KEY_MAX) ? coord->adapter->subscribe(coord, channel, subscriber) : NULL;
}

void coord_unsubscribe(struct coord_subscription *subscription)
{
    if (subscription)
        subscription->coord->adapter->unsubscribe(subscription);
}

void coord_close_loop(struct coord *coord)
{
    coord->adapter->close_loop(coord);
}

void coord_close(struct coord *coord)
{
    if (coord)
        coord->adapter->close(coord);
}

const char *coord_trouble(struct coord *coord)
{
    return coord->adapter->trouble(coord);
}
