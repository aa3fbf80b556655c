/*
 * The `local` adapter: the operations over local_table. They answer at once and
 * never suspend a task. Each means the same as the script or command of the same
 * name in redis_scripts.c.
 */
#include "base/clock.h"
#include "coord/adapter.h"
#include "coord/local_pubsub.h"
#include "coord/local_table.h"

#include <stdlib.h>

struct local {
    struct coord base;
    struct local_table *table;
    struct local_pubsub *pubsub;
};

struct owner {
    int64_t expires_ns;
    size_t len;
    char name[COORD_OWNER_MAX];
};

static struct local *local_of(struct coord *coord)
{
    return (struct local *)coord;
}

static int64_t expiry(const struct local_hold *hold, int64_t ttl_ms)
{
    return ttl_ms > 0 && ttl_ms < (LOCAL_NEVER - hold->now_ns) / NS_PER_MS ? hold->now_ns + ttl_ms * NS_PER_MS
                                                                           : LOCAL_NEVER;
}

static void hold_lock_keys(struct local_hold *hold, struct coord *coord, const struct coord_lock *lock)
{
    struct str names[COORD_LOCK_KEYS] = {{0}};
    for (size_t i = 0; i < lock->count; i++)
        names[i] = lock->keys[i].key;
    local_hold(hold, local_of(coord)->table, names, lock->count);
}

static void drop_expired_owners(struct local_entry *entry, int64_t now_ns)
{
    struct owner *owners = entry->data;
    for (uint32_t i = 0; i < entry->used;) {
        if (owners[i].expires_ns <= now_ns)
            owners[i] = owners[--entry->used];
        else
            i++;
    }
}

static struct owner *find_owner(const struct local_entry *entry, struct str name)
{
    struct owner *owners = entry->data;
    for (uint32_t i = 0; i < entry->used; i++)
        if (str_eq(str_make(owners[i].name, owners[i].len), name))
            return &owners[i];
    return NULL;
}

static enum coord_outcome take(struct local_hold *hold, size_t key, uint32_t limit, struct str name, int64_t ttl_ms)
{
    struct local_entry *entry = local_find(hold, key);
    if (entry && entry->kind != LOCAL_OWNERS)
        return COORD_TAKEN;
    if (!entry && !(entry = local_insert(hold, key, LOCAL_OWNERS)))
        return COORD_FAILED;
    drop_expired_owners(entry, hold->now_ns);
    if (entry->used >= limit || find_owner(entry, name))
        return COORD_TAKEN;
    if ((entry->used + 1) * sizeof(struct owner) > entry->data_bytes &&
        !local_resize(hold, entry, (entry->used * 2 + 1) * sizeof(struct owner))) {
        if (entry->used == 0)
            local_remove(hold, entry);
        return COORD_FAILED;
    }
    struct owner *owner = (struct owner *)entry->data + entry->used++;
    owner->expires_ns = expiry(hold, ttl_ms);
    owner->len = name.len;
    memcpy(owner->name, name.ptr, name.len);
    if (entry->used == 1 || owner->expires_ns > entry->expires_ns)
        entry->expires_ns = owner->expires_ns;
    return COORD_OK;
}

static bool give_back(struct local_hold *hold, size_t key, struct str name)
{
    struct local_entry *entry = local_find(hold, key);
    if (!entry || entry->kind != LOCAL_OWNERS)
        return false;
    drop_expired_owners(entry, hold->now_ns);
    struct owner *owner = find_owner(entry, name);
    if (!owner)
        return false;
    *owner = ((struct owner *)entry->data)[--entry->used];
    if (entry->used == 0)
        local_remove(hold, entry);
    return true;
}

static enum coord_outcome local_lock(struct coord *coord, struct coord_lock *lock)
{
    struct local_hold hold;
    hold_lock_keys(&hold, coord, lock);
    enum coord_outcome outcome = COORD_OK;
    size_t taken = 0;
    while (taken < lock->count &&
           (outcome = take(&hold, taken, lock->keys[taken].limit, lock->owner, lock->ttl_ms)) == COORD_OK)
        taken++;
    if (outcome != COORD_OK)
        while (taken > 0)
            give_back(&hold, --taken, lock->owner);
    local_release(&hold);
    return outcome;
}

static enum coord_outcome local_unlock(struct coord *coord, const struct coord_lock *lock)
{
    struct local_hold hold;
    hold_lock_keys(&hold, coord, lock);
    bool all = true;
    for (size_t i = 0; i < lock->count; i++)
        all = give_back(&hold, i, lock->owner) && all;
    local_release(&hold);
    return all ? COORD_OK : COORD_MISSING;
}

/* The only key's entry of that kind, made if there is none; NULL when the table is full or it is of another kind. */
static struct local_entry *find_or_insert(struct local_hold *hold, enum local_kind kind)
{
    struct local_entry *entry = local_find(hold, 0);
    if (!entry)
        return local_insert(hold, 0, kind);
    return entry->kind == kind ? entry : NULL;
}

static enum coord_outcome local_count(struct coord *coord, struct str key, int64_t add, int64_t ttl_ms, int64_t *sum)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = find_or_insert(&hold, LOCAL_NUMBER);
    bool added = entry && !__builtin_add_overflow(entry->number, add, sum);
    if (added) {
        entry->number = *sum;
        if (ttl_ms && entry->expires_ns == LOCAL_NEVER)
            entry->expires_ns = expiry(&hold, ttl_ms);
    }
    local_release(&hold);
    return added ? COORD_OK : COORD_FAILED;
}

static enum coord_outcome local_sequence(struct coord *coord, struct str key, int64_t *value)
{
    return local_count(coord, key, 1, 0, value);
}

static enum coord_outcome local_sequence_raise(struct coord *coord, struct str key, int64_t floor)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = find_or_insert(&hold, LOCAL_NUMBER);
    if (entry && entry->number < floor)
        entry->number = floor;
    local_release(&hold);
    return entry ? COORD_OK : COORD_FAILED;
}

static int64_t *window_time(const struct local_entry *entry, uint32_t index)
{
    return (int64_t *)entry->data + (entry->start + index) % entry->size;
}

/* The ring doubles until it has the limit's size; it is laid out straight again by that. */
static bool grow_window(struct local_hold *hold, struct local_entry *entry, uint32_t limit)
{
    uint32_t size = entry->size < 4 ? 8 : entry->size > UINT32_MAX / 2 ? UINT32_MAX : entry->size * 2;
    if (size > limit)
        size = limit;
    if (!local_resize(hold, entry, size * sizeof(int64_t)))
        return false;
    int64_t *times = entry->data; /* full, so the part before `start` is younger than all the rest */
    uint32_t young = entry->start, old = entry->size - entry->start;
    memmove(times + size - old, times + young, old * sizeof(int64_t));
    entry->start = entry->size ? size - old : 0;
    entry->size = size;
    return true;
}

static void drop_oldest(struct local_entry *entry)
{
    entry->start = (entry->start + 1) % entry->size;
    entry->used--;
}

/* The window keeps the last `limit` admitted times: when the oldest of them has left the window, there is a place. */
static enum coord_outcome admit(struct local_hold *hold, struct local_entry *entry, uint32_t limit, int64_t window_ms,
                                int64_t *retry_after_ms)
{
    int64_t window_ns = window_ms * NS_PER_MS;
    if (entry->used >= limit) {
        int64_t since_ns = hold->now_ns - *window_time(entry, entry->used - limit);
        if (since_ns < window_ns) {
            *retry_after_ms = (window_ns - since_ns + NS_PER_MS - 1) / NS_PER_MS;
            return COORD_LIMITED;
        }
        while (entry->used >= limit)
            drop_oldest(entry);
    }
    if (entry->used == entry->size && !grow_window(hold, entry, limit))
        return COORD_FAILED;
    entry->used++;
    *window_time(entry, entry->used - 1) = hold->now_ns;
    entry->expires_ns = expiry(hold, window_ms);
    *retry_after_ms = 0;
    return COORD_OK;
}

static enum coord_outcome local_rate(struct coord *coord, struct str key, uint32_t limit, int64_t window_ms,
                                     int64_t *retry_after_ms)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = find_or_insert(&hold, LOCAL_WINDOW);
    enum coord_outcome outcome = entry ? admit(&hold, entry, limit, window_ms, retry_after_ms) : COORD_FAILED;
    if (entry && outcome == COORD_FAILED && entry->used == 0)
        local_remove(&hold, entry);
    local_release(&hold);
    return outcome;
}

static enum coord_outcome local_set(struct coord *coord, struct str key, struct str value, int64_t ttl_ms)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = local_find(&hold, 0);
    bool fresh = !entry;
    if (fresh)
        entry = local_insert(&hold, 0, LOCAL_VALUE);
    bool done = entry && local_resize(&hold, entry, value.len);
    if (done) {
        entry->kind = LOCAL_VALUE; /* as in Redis, SET replaces whatever was there */
        entry->expires_ns = expiry(&hold, ttl_ms);
        if (value.len)
            memcpy(entry->data, value.ptr, value.len);
    } else if (entry && fresh) {
        local_remove(&hold, entry);
    }
    local_release(&hold);
    return done ? COORD_OK : COORD_FAILED;
}

/* Copies the value if it has exactly the size of `into`; tells its size in any case. */
static enum coord_outcome copy_value(struct coord *coord, struct str key, char *into, size_t *size, int64_t *ttl_ms)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = local_find(&hold, 0);
    enum coord_outcome outcome = !entry ? COORD_MISSING : entry->kind == LOCAL_VALUE ? COORD_OK : COORD_FAILED;
    if (outcome == COORD_OK) {
        if (into && *size == entry->data_bytes)
            memcpy(into, entry->data, *size);
        *size = entry->data_bytes;
        int64_t left_ns = entry->expires_ns - hold.now_ns;
        *ttl_ms = entry->expires_ns == LOCAL_NEVER ? 0 : (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    }
    local_release(&hold);
    return outcome;
}

/* The arena may jump out of the task when it is exhausted, so it is never asked while a shard is held. */
static enum coord_outcome local_get(struct coord *coord, struct str key, struct arena *arena, struct str *value,
                                    int64_t *ttl_ms)
{
    int64_t left_ms;
    size_t size = 0, room;
    char *bytes = NULL;
    enum coord_outcome outcome = copy_value(coord, key, NULL, &size, &left_ms);
    while (outcome == COORD_OK) {
        room = size;
        bytes = arena_bytes(arena, room);
        outcome = copy_value(coord, key, bytes, &size, &left_ms);
        if (size == room)
            break;
    }
    if (outcome != COORD_OK)
        return outcome;
    *value = str_make(bytes, size);
    if (ttl_ms)
        *ttl_ms = left_ms;
    return COORD_OK;
}

static enum coord_outcome local_delete(struct coord *coord, struct str key)
{
    struct local_hold hold;
    local_hold(&hold, local_of(coord)->table, &key, 1);
    struct local_entry *entry = local_find(&hold, 0);
    if (entry)
        local_remove(&hold, entry);
    local_release(&hold);
    return entry ? COORD_OK : COORD_MISSING;
}

static enum coord_outcome local_publish(struct coord *coord, struct str channel, struct str message)
{
    return local_pubsub_publish(local_of(coord)->pubsub, channel, message) ? COORD_OK : COORD_FAILED;
}

static struct coord_subscription *local_subscribe(struct coord *coord, struct str channel,
                                                  struct coord_subscriber subscriber)
{
    return local_pubsub_subscribe(local_of(coord)->pubsub, coord, channel, subscriber);
}

static void local_close_loop(struct coord *coord)
{
    local_pubsub_close_loop(local_of(coord)->pubsub);
}

static void local_close(struct coord *coord)
{
    struct local *local = local_of(coord);
    if (local->table)
        local_table_destroy(local->table);
    if (local->pubsub)
        local_pubsub_destroy(local->pubsub);
    free(local);
}

static const char *local_trouble(struct coord *coord)
{
    (void)coord;
    return NULL;
}

static const struct coord_adapter local_adapter = {
    .lock = local_lock,
    .unlock = local_unlock,
    .sequence = local_sequence,
    .sequence_raise = local_sequence_raise,
    .count = local_count,
    .rate = local_rate,
    .set = local_set,
    .get = local_get,
    .remove = local_delete,
    .publish = local_publish,
    .subscribe = local_subscribe,
    .unsubscribe = local_pubsub_unsubscribe,
    .close_loop = local_close_loop,
    .close = local_close,
    .trouble = local_trouble,
};

struct coord *coord_local_open(const struct coord_settings *settings)
{
    struct local *local = calloc(1, sizeof(*local));
    if (!local)
        return NULL;
    local->base.adapter = &local_adapter;
    local->table = local_table_create(settings->max_entries);
    local->pubsub = local_pubsub_create();
    if (local->table && local->pubsub)
        return &local->base;
    local_close(&local->base);
    return NULL;
}
