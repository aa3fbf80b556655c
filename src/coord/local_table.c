#include "coord/local_table.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum {
    SHARDS = 32,
    FIRST_BUCKETS = 16,        /* of a shard; it doubles them as it fills, and stays small in the cache until then */
    SWEEP_BUCKETS = 4,         /* looked into for every new entry while a shard is being swept */
    SWEEP_MORE = 64,           /* entries more than twice those that the last sweep left: then it is swept again */
    FULL_SWEEP_BUCKETS = 2048, /* looked into before a table is called full */
    BYTES_PER_ENTRY = 1024,    /* on average, at most */
};

struct shard {
    _Alignas(64) pthread_mutex_t mutex;
    struct local_entry **buckets;
    size_t mask;       /* one less than there are buckets */
    size_t count;      /* entries */
    size_t swept;      /* the last bucket that was swept */
    size_t sweep_left; /* buckets until all have been */
    size_t sweep_at;   /* entries at which that begins again */
};

/* Entries and bytes, counted in one number, since all threads meet there. */
typedef uint64_t room;
#define ONE_ENTRY (UINT64_C(1) << 40)

struct local_table {
    struct shard shards[SHARDS];
    _Alignas(64) _Atomic room used;
    size_t max_entries, max_bytes;
    atomic_size_t full_sweep; /* the shard where the next search for room begins */
};

static struct shard *shard_of(struct local_table *table, uint64_t hash)
{
    return &table->shards[hash % SHARDS];
}

static struct local_entry **bucket_of(struct shard *shard, uint64_t hash)
{
    return &shard->buckets[(hash / SHARDS) & shard->mask];
}

static bool start_shard(struct shard *shard)
{
    pthread_mutex_init(&shard->mutex, NULL);
    shard->mask = FIRST_BUCKETS - 1;
    shard->sweep_at = SWEEP_MORE;
    shard->buckets = calloc(FIRST_BUCKETS, sizeof(*shard->buckets));
    return shard->buckets != NULL;
}

struct local_table *local_table_create(size_t max_entries)
{
    struct local_table *table = aligned_alloc(64, sizeof(*table));
    if (!table)
        return NULL;
    *table = (struct local_table){.max_entries = max_entries, .max_bytes = max_entries * BYTES_PER_ENTRY};
    bool started = true;
    for (size_t i = 0; i < SHARDS; i++)
        started = start_shard(&table->shards[i]) && started;
    if (started)
        return table;
    local_table_destroy(table);
    return NULL;
}

static void free_entry(struct local_entry *entry)
{
    if (entry->data != entry->small)
        free(entry->data);
    free(entry);
}

/* Of the data's bytes, those that are not in the entry itself. */
static size_t extra_bytes(size_t data_bytes)
{
    return data_bytes > LOCAL_SMALL ? data_bytes : 0;
}

static void unlink_entry(struct local_table *table, struct shard *shard, struct local_entry **link)
{
    struct local_entry *entry = *link;
    *link = entry->next;
    shard->count--;
    atomic_fetch_sub(&table->used, ONE_ENTRY + sizeof(*entry) + entry->key_len + extra_bytes(entry->data_bytes));
    free_entry(entry);
}

static void free_chain(struct local_entry *entry)
{
    while (entry) {
        struct local_entry *next = entry->next;
        free_entry(entry);
        entry = next;
    }
}

void local_table_destroy(struct local_table *table)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &table->shards[i];
        for (size_t bucket = 0; shard->buckets && bucket <= shard->mask; bucket++)
            free_chain(shard->buckets[bucket]);
        free(shard->buckets);
        pthread_mutex_destroy(&shard->mutex);
    }
    free(table);
}

size_t local_table_entries(struct local_table *table)
{
    return atomic_load(&table->used) / ONE_ENTRY;
}

/* Without memory for more buckets, they become longer. */
static void grow(struct shard *shard)
{
    struct shard larger = {.mask = shard->mask * 2 + 1};
    larger.buckets = calloc(larger.mask + 1, sizeof(*larger.buckets));
    if (!larger.buckets)
        return;
    for (size_t i = 0; i <= shard->mask; i++)
        for (struct local_entry *entry = shard->buckets[i], *next; entry; entry = next) {
            struct local_entry **bucket = bucket_of(&larger, entry->hash);
            next = entry->next;
            entry->next = *bucket;
            *bucket = entry;
        }
    free(shard->buckets);
    shard->buckets = larger.buckets;
    shard->mask = larger.mask;
    if (shard->sweep_left)
        shard->sweep_left = larger.mask + 1; /* what has been swept is spread over all of them */
}

static void sweep(struct local_table *table, struct shard *shard, size_t buckets, int64_t now_ns)
{
    for (; buckets > 0; buckets--) {
        shard->swept = (shard->swept + 1) & shard->mask;
        struct local_entry **link = &shard->buckets[shard->swept];
        while (*link) {
            if ((*link)->expires_ns <= now_ns)
                unlink_entry(table, shard, link);
            else
                link = &(*link)->next;
        }
    }
}

/* All buckets of a shard are swept, a few at a time, when it has twice the entries that were left the last time: locks
 * that are given back cost nobody a look, and what expires never takes more room than what was alive at once. */
static void sweep_some(struct local_table *table, struct shard *shard, int64_t now_ns)
{
    if (shard->sweep_left == 0 && shard->count < shard->sweep_at)
        return;
    if (shard->sweep_left == 0)
        shard->sweep_left = shard->mask + 1;
    size_t buckets = shard->sweep_left < SWEEP_BUCKETS ? shard->sweep_left : SWEEP_BUCKETS;
    sweep(table, shard, buckets, now_ns);
    shard->sweep_left -= buckets;
    if (shard->sweep_left == 0)
        shard->sweep_at = 2 * shard->count + SWEEP_MORE;
}

/* Locks may fill the table, everything else half of it: a crowd of callers who are counted must not keep others from
 * taking a lock. */
static bool take_room(struct local_table *table, enum local_kind kind, room wanted)
{
    size_t share = kind == LOCAL_OWNERS ? 1 : 2;
    room used = atomic_load(&table->used), then;
    do {
        then = used + wanted;
        if (then / ONE_ENTRY > table->max_entries / share || then % ONE_ENTRY > table->max_bytes / share)
            return false;
    } while (!atomic_compare_exchange_weak(&table->used, &used, then));
    return true;
}

static bool is_held(const struct local_hold *hold, size_t shard)
{
    for (size_t i = 0; i < hold->shard_count; i++)
        if (hold->shards[i] == shard)
            return true;
    return false;
}

/* Looks for expired entries in other shards too, a bounded number of buckets. Entries that the caller has
 * found are safe: they were alive at now_ns. */
static bool make_room(struct local_hold *hold, enum local_kind kind, room wanted)
{
    struct local_table *table = hold->table;
    size_t buckets = FULL_SWEEP_BUCKETS;
    bool taken = take_room(table, kind, wanted);
    for (size_t tries = SHARDS; !taken && tries > 0 && buckets > 0; tries--) {
        size_t i = atomic_fetch_add(&table->full_sweep, 1) % SHARDS;
        struct shard *shard = &table->shards[i];
        bool own = is_held(hold, i);
        if (!own && pthread_mutex_trylock(&shard->mutex) != 0)
            continue; /* waiting here, with shards held, could deadlock */
        size_t here = shard->mask < buckets ? shard->mask + 1 : buckets;
        sweep(table, shard, here, hold->now_ns);
        buckets -= here;
        if (!own)
            pthread_mutex_unlock(&shard->mutex);
        taken = take_room(table, kind, wanted);
    }
    return taken;
}

void local_hold(struct local_hold *hold, struct local_table *table, const struct str *keys, size_t count)
{
    hold->table = table;
    hold->shard_count = 0;
    for (size_t i = 0; i < count; i++) {
        hold->keys[i].text = keys[i];
        hold->keys[i].hash = str_hash(keys[i]);
        size_t shard = hold->keys[i].hash % SHARDS;
        if (is_held(hold, shard))
            continue;
        size_t place = hold->shard_count++;
        for (; place > 0 && hold->shards[place - 1] > shard; place--)
            hold->shards[place] = hold->shards[place - 1];
        hold->shards[place] = shard;
    }
    for (size_t i = 0; i < hold->shard_count; i++)
        pthread_mutex_lock(&table->shards[hold->shards[i]].mutex);
    hold->now_ns = clock_mono_ns(); /* under the lock, so that time does not go back between two holders */
}

void local_release(struct local_hold *hold)
{
    for (size_t i = hold->shard_count; i > 0; i--)
        pthread_mutex_unlock(&hold->table->shards[hold->shards[i - 1]].mutex);
}

struct local_entry *local_find(struct local_hold *hold, size_t key)
{
    uint64_t hash = hold->keys[key].hash;
    struct shard *shard = shard_of(hold->table, hash);
    for (struct local_entry **link = bucket_of(shard, hash); *link; link = &(*link)->next) {
        struct local_entry *entry = *link;
        if (entry->hash != hash || !str_eq(str_make(entry->key, entry->key_len), hold->keys[key].text))
            continue;
        if (entry->expires_ns > hold->now_ns)
            return entry;
        unlink_entry(hold->table, shard, link);
        return NULL;
    }
    return NULL;
}

struct local_entry *local_insert(struct local_hold *hold, size_t held, enum local_kind kind)
{
    struct local_table *table = hold->table;
    struct str key = hold->keys[held].text;
    uint64_t hash = hold->keys[held].hash;
    struct shard *shard = shard_of(table, hash);
    room wanted = ONE_ENTRY + sizeof(struct local_entry) + key.len;
    sweep_some(table, shard, hold->now_ns);
    if (!make_room(hold, kind, wanted))
        return NULL;
    struct local_entry *entry = malloc(sizeof(*entry) + key.len);
    if (!entry) {
        atomic_fetch_sub(&table->used, wanted);
        return NULL;
    }
    if (shard->count++ > shard->mask)
        grow(shard);
    struct local_entry **bucket = bucket_of(shard, hash);
    entry->next = *bucket;
    *bucket = entry;
    entry->hash = hash;
    entry->expires_ns = LOCAL_NEVER;
    entry->data = entry->small;
    entry->number = 0;
    entry->used = entry->data_bytes = 0;
    entry->data_room = LOCAL_SMALL;
    entry->kind = kind;
    entry->key_len = (uint16_t)key.len;
    memcpy(entry->key, key.ptr, key.len);
    return entry;
}

void local_remove(struct local_hold *hold, struct local_entry *entry)
{
    struct shard *shard = shard_of(hold->table, entry->hash);
    struct local_entry **link = bucket_of(shard, entry->hash);
    while (*link != entry)
        link = &(*link)->next;
    unlink_entry(hold->table, shard, link);
}

static bool move_data(struct local_entry *entry, size_t bytes)
{
    if (bytes <= LOCAL_SMALL) {
        memcpy(entry->small, entry->data, bytes);
        free(entry->data);
        entry->data = entry->small;
        entry->data_room = LOCAL_SMALL;
        return true;
    }
    bool was_small = entry->data == entry->small;
    void *data = realloc(was_small ? NULL : entry->data, bytes);
    if (!data)
        return false;
    if (was_small)
        memcpy(data, entry->small, LOCAL_SMALL);
    entry->data = data;
    entry->data_room = (uint32_t)bytes;
    return true;
}

bool local_resize(struct local_hold *hold, struct local_entry *entry, size_t bytes)
{
    size_t before = extra_bytes(entry->data_bytes), now = extra_bytes(bytes);
    if (bytes > UINT32_MAX || (now > before && !make_room(hold, entry->kind, now - before)))
        return false;
    bool fits = bytes <= entry->data_room && (entry->data_room == LOCAL_SMALL || bytes > entry->data_room / 2);
    bool done = fits || move_data(entry, bytes);
    size_t charged = now > before ? now : before, owed = done ? now : before;
    if (charged > owed)
        atomic_fetch_sub(&hold->table->used, charged - owed);
    if (done)
        entry->data_bytes = (uint32_t)bytes;
    return done;
}
