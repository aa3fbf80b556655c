/*
 * The memory of the `local` adapter: a hash table cut into shards with a mutex
 * each. Entries expire by the monotonic clock: lazily when they are met, and when
 * a shard has grown to twice its size, new ones look through all of it, so that
 * what nobody asks for makes room for them. Keys and bytes are bounded. Any thread; nothing here waits
 * for anything but a mutex that is held for microseconds.
 *
 * An entry belongs to the table and may be touched only while its shard is held.
 */
#ifndef COORD_LOCAL_TABLE_H
#define COORD_LOCAL_TABLE_H

#include "base/str.h"
#include "coord/coord.h"

enum local_kind { LOCAL_OWNERS, LOCAL_NUMBER, LOCAL_WINDOW, LOCAL_VALUE };

#define LOCAL_NEVER INT64_MAX

enum { LOCAL_SMALL = 80 }; /* data that an entry has room for itself: the owner of a lock */

/* In one piece of memory with its key, and as a rule with its data: a busy table has thousands, each is met twice in
 * the life of a request, and what the allocator gave back last is still in the processor's cache. */
struct local_entry {
    struct local_entry *next; /* in the bucket */
    uint64_t hash;
    int64_t expires_ns; /* clock_mono_ns, or LOCAL_NEVER */
    void *data;         /* `small`, or of its own */
    union {
        int64_t number; /* LOCAL_NUMBER */
        struct {
            uint32_t size, start; /* LOCAL_WINDOW: of the ring of times in data */
        };
    };
    uint32_t used; /* of the items in data: owners or times */
    uint32_t data_bytes, data_room;
    enum local_kind kind;
    uint16_t key_len;
    _Alignas(8) char small[LOCAL_SMALL];
    char key[];
};

struct local_table;

struct local_table *local_table_create(size_t max_entries);
void local_table_destroy(struct local_table *table);
size_t local_table_entries(struct local_table *table); /* also those that have expired and are still there */

/* The shards of up to COORD_LOCK_KEYS keys, locked together in an order that cannot deadlock. */
struct local_hold {
    struct local_table *table;
    struct {
        struct str text;
        uint64_t hash;
    } keys[COORD_LOCK_KEYS];
    size_t shards[COORD_LOCK_KEYS];
    size_t shard_count;
    int64_t now_ns; /* one moment for the whole operation */
};
void local_hold(struct local_hold *hold, struct local_table *table, const struct str *keys, size_t count);
void local_release(struct local_hold *hold);

/* The entry of the hold's key of that number. NULL when there is none, or no longer. */
struct local_entry *local_find(struct local_hold *hold, size_t key);

/* A new entry for a key that has none; it never expires until told otherwise. NULL when the table is full. */
struct local_entry *local_insert(struct local_hold *hold, size_t key, enum local_kind kind);

void local_remove(struct local_hold *hold, struct local_entry *entry);

/* Makes entry->data this large, keeping what fits. False when there is no room. */
bool local_resize(struct local_hold *hold, struct local_entry *entry, size_t bytes);

#endif
