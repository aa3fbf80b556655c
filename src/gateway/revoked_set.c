#include "gateway/revoked_set.h"

#include <stdlib.h>

enum { FIRST_SIZE = 256 };

void revoked_set_init(struct revoked_set *set, size_t max)
{
    *set = (struct revoked_set){.max = max};
    pthread_rwlock_init(&set->lock, NULL);
}

void revoked_set_free(struct revoked_set *set)
{
    pthread_rwlock_destroy(&set->lock);
    free(set->entries);
}

static uint64_t token_of(struct str token_id)
{
    uint64_t hash = str_hash(token_id);
    return hash ? hash : 1;
}

/* The token's entry, or the empty one where it belongs. The table is never full. */
static struct revoked_entry *find(struct revoked_entry *entries, size_t size, uint64_t token)
{
    size_t at = token & (size - 1);
    while (entries[at].token && entries[at].token != token)
        at = (at + 1) & (size - 1);
    return &entries[at];
}

/* Into a table of this size, without what has expired. */
static bool rebuild(struct revoked_set *set, size_t size, int64_t now)
{
    struct revoked_entry *entries = calloc(size, sizeof(*entries));
    size_t count = 0;
    if (!entries)
        return false;
    for (size_t i = 0; i < set->size; i++)
        if (set->entries[i].token && set->entries[i].expires_at > now) {
            *find(entries, size, set->entries[i].token) = set->entries[i];
            count++;
        }
    free(set->entries);
    set->entries = entries;
    set->size = size;
    atomic_store(&set->count, count);
    return true;
}

static bool make_room(struct revoked_set *set, int64_t now)
{
    size_t count = atomic_load(&set->count);
    if (set->size == 0)
        return rebuild(set, FIRST_SIZE, now);
    if (count < set->max && count < set->size / 2)
        return true;
    if (!rebuild(set, set->size, now))
        return false;
    count = atomic_load(&set->count);
    if (count >= set->max)
        return false;
    return count < set->size / 4 || rebuild(set, set->size * 2, now);
}

bool revoked_set_add(struct revoked_set *set, struct str token_id, int64_t expires_at, int64_t now)
{
    uint64_t token = token_of(token_id);
    if (expires_at <= now)
        return true;
    pthread_rwlock_wrlock(&set->lock);
    bool known = set->size && find(set->entries, set->size, token)->token;
    bool added = known || make_room(set, now);
    if (added && !known) {
        *find(set->entries, set->size, token) = (struct revoked_entry){token, expires_at};
        atomic_fetch_add(&set->count, 1);
    }
    pthread_rwlock_unlock(&set->lock);
    return added;
}

bool revoked_set_has(struct revoked_set *set, struct str token_id)
{
    if (atomic_load_explicit(&set->count, memory_order_acquire) == 0)
        return false;
    uint64_t token = token_of(token_id);
    pthread_rwlock_rdlock(&set->lock);
    bool known = find(set->entries, set->size, token)->token != 0;
    pthread_rwlock_unlock(&set->lock);
    return known;
}

void revoked_set_forget(struct revoked_set *set, int64_t now)
{
    pthread_rwlock_wrlock(&set->lock);
    if (atomic_load(&set->count))
        rebuild(set, set->size, now); /* no memory: with the next time */
    pthread_rwlock_unlock(&set->lock);
}
