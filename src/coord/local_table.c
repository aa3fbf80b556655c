#include "coord/local_table.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    SHARDS = 32,
    SWEEP_BUCKETS = 2,         /* looked into by every operation */
    FULL_SWEEP_BUCKETS = 2048, /* looked into before a table is called full */
    BYTES_PER_ENTRY = 1024,    /* on average, at most */
};

struct shard {
    _Alignas(64) pthread_mutex_t mutex;
    struct local_entry **buckets;
    size_t swept; /* the next bucket to sweep */
};

struct local_table {
    struct shard shards[SHARDS];
    size_t bucket_mask;
    atomic_size_t entries, bytes;
    size_t max_entries, max_bytes;
    atomic_size_t full_sweep; /* the shard where the next search for room begins */
};

static struct shard *shard_of(struct local_table *table, uint64_t hash)
{
    return &table->shards[hash % SHARDS];
}

static struct local_entry **bucket_of(struct local_table *table, uint64_t hash)
{
    return &shard_of(table, hash)->buckets[(hash / SHARDS) & table->bucket_mask];
}

struct local_table *local_table_create(size_t max_entries)
{
    struct local_table *table = aligned_alloc(64, sizeof(*table));
    if (!table)
        return NULL;
    *table = (struct local_table){.max_entries = max_entries, .max_bytes = max_entries * BYTES_PER_ENTRY};
    size_t buckets = 8;
    while (buckets < max_entries / SHARDS)
        buckets *= 2;
    table->bucket_mask = buckets - 1;
    bool complete = true;
    for (size_t i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&table->shards[i].mutex, NULL);
        table->shards[i].buckets = calloc(buckets, sizeof(struct local_entry *));
        complete = complete && table->shards[i].buckets;
    }
    if (complete)
        return table;
    local_table_destroy(table);
    return NULL;
}

static void unlink_and_free(struct local_table *table, struct local_entry **link)
{
    struct local_entry *entry = *link;
    *link = entry->next;
    atomic_fetch_sub(&table->entries, 1);
    atomic_fetch_sub(&table->bytes, sizeof(*entry) + entry->key_len + entry->data_bytes);
    free(entry->data);
    free(entry);
}

void local_table_destroy(struct local_table *table)
{
    for (size_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &table->shards[i];
        for (size_t bucket = 0; shard->buckets && bucket <= table->bucket_mask; bucket++)
            while (shard->buckets[bucket])
                unlink_and_free(table, &shard->buckets[bucket]);
        free(shard->buckets);
        pthread_mutex_destroy(&shard->mutex);
    }
    free(table);
}

static void sweep(struct local_table *table, struct shard *shard, size_t buckets, int64_t now_ns)
{
    for (; buckets > 0; buckets--) {
        struct local_entry **link = &shard->buckets[shard->swept];
        shard->swept = (shard->swept + 1) & table->bucket_mask;
        while (*link) {
            if ((*link)->expires_ns <= now_ns)
                unlink_and_free(table, link);
            else
                link = &(*link)->next;
        }
    }
}

static bool has_room(struct local_table *table, size_t entries, size_t bytes)
{
    return atomic_load(&table->entries) + entries <= table->max_entries &&
           atomic_load(&table->bytes) + bytes <= table->max_bytes;
}

static bool is_held(const struct local_hold *hold, size_t shard)
{
    for (size_t i = 0; i < hold->count; i++)
        if (hold->shards[i] == shard)
            return true;
    return false;
}

/* Looks for expired entries in other shards too, a bounded number of buckets. Entries that the caller has
 * found are safe: they were alive at now_ns. */
static bool make_room(struct local_hold *hold, size_t entries, size_t bytes)
{
    struct local_table *table = hold->table;
    size_t per_shard = table->bucket_mask + 1;
    size_t shards = per_shard > FULL_SWEEP_BUCKETS / SHARDS ? FULL_SWEEP_BUCKETS / per_shard + 1 : SHARDS;
    if (shards > SHARDS)
        shards = SHARDS;
    if (per_shard > FULL_SWEEP_BUCKETS)
        per_shard = FULL_SWEEP_BUCKETS;
    for (; shards > 0 && !has_room(table, entries, bytes); shards--) {
        size_t i = atomic_fetch_add(&table->full_sweep, 1) % SHARDS;
        bool own = is_held(hold, i);
        if (!own && pthread_mutex_trylock(&table->shards[i].mutex) != 0)
            continue; /* waiting here, with shards held, could deadlock */
        sweep(table, &table->shards[i], per_shard, hold->now_ns);
        if (!own)
            pthread_mutex_unlock(&table->shards[i].mutex);
    }
    return has_room(table, entries, bytes);
}

void local_hold(struct local_hold *hold, struct local_table *table, const struct str *keys, size_t count)
{
    *hold = (struct local_hold){.table = table};
    for (size_t i = 0; i < count; i++) {
        size_t shard = str_hash(keys[i]) % SHARDS;
        if (is_held(hold, shard))
            continue;
        size_t place = hold->count++;
        for (; place > 0 && hold->shards[place - 1] > shard; place--)
            hold->shards[place] = hold->shards[place - 1];
        hold->shards[place] = shard;
    }
    for (size_t i = 0; i < hold->count; i++)
        pthread_mutex_lock(&table->shards[hold->shards[i]].mutex);
    hold->now_ns = clock_mono_ns(); /* under the lock, so that time does not go back between two holders */
    for (size_t i = 0; i < hold->count; i++)
        sweep(table, &table->shards[hold->shards[i]], SWEEP_BUCKETS, hold->now_ns);
}

void local_release(struct local_hold *hold)
{
    for (size_t i = hold->count; i > 0; i--)
        pthread_mutex_unlock(&hold->table->shards[hold->shards[i - 1]].mutex);
}

struct local_entry *local_find(struct local_hold *hold, struct str key)
{
    uint64_t hash = str_hash(key);
    for (struct local_entry **link = bucket_of(hold->table, hash); *link; link = &(*link)->next) {
        struct local_entry *entry = *link;
        if (entry->hash != hash || !str_eq(str_make(entry->key, entry->key_len), key))
            continue;
        if (entry->expires_ns > hold->now_ns)
            return entry;
        unlink_and_free(hold->table, link);
        return NULL;
    }
    return NULL;
}

struct local_entry *local_insert(struct local_hold *hold, struct str key, enum local_kind kind)
{
    struct local_table *table = hold->table;
    size_t bytes = sizeof(struct local_entry) + key.len;
    if (!make_room(hold, 1, bytes))
        return NULL;
    struct local_entry *entry = calloc(1, bytes);
    if (!entry)
        return NULL;
    uint64_t hash = str_hash(key);
    struct local_entry **bucket = bucket_of(table, hash);
    entry->next = *bucket;
    *bucket = entry;
    entry->hash = hash;
    entry->expires_ns = LOCAL_NEVER;
    entry->kind = kind;
    entry->key_len = key.len;
    memcpy(entry->key, key.ptr, key.len);
    atomic_fetch_add(&table->entries, 1);
    atomic_fetch_add(&table->bytes, bytes);
    return entry;
}

void local_remove(struct local_hold *hold, struct local_entry *entry)
{
    struct local_entry **link = bucket_of(hold->table, entry->hash);
    while (*link != entry)
        link = &(*link)->next;
    unlink_and_free(hold->table, link);
}

bool local_resize(struct local_hold *hold, struct local_entry *entry, size_t bytes)
{
    struct local_table *table = hold->table;
    size_t more = bytes > entry->data_bytes ? bytes - entry->data_bytes : 0;
    if (!make_room(hold, 0, more))
        return false;
    void *data = realloc(entry->data, bytes ? bytes : 1);
    if (!data)
        return false;
    atomic_fetch_add(&table->bytes, bytes - entry->data_bytes); /* wraps as it should when it shrinks */
    entry->data = data;
    entry->data_bytes = bytes;
    return true;
}
