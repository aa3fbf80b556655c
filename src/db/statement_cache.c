#include "db/statement_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_USED = STATEMENT_CACHE_SLOTS * 3 / 4 };

static size_t home(const struct statement *key)
{
    return (size_t)(((uintptr_t)key >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % STATEMENT_CACHE_SLOTS;
}

struct cached_statement *statement_cache_find(struct statement_cache *cache, const struct statement *key,
                                              const char *text)
{
    size_t at = home(key);
    while (cache->slots[at].key && cache->slots[at].key != key)
        at = (at + 1) % STATEMENT_CACHE_SLOTS;
    struct cached_statement *slot = &cache->slots[at];
    if (slot->key)
        return strcmp(slot->text, text) == 0 ? slot : NULL;
    if (cache->used == MAX_USED || !(slot->text = strdup(text)))
        return NULL;
    slot->key = key;
    cache->used++;
    return slot;
}

void statement_cache_clear(struct statement_cache *cache, void (*release)(void *prepared))
{
    for (size_t i = 0; i < STATEMENT_CACHE_SLOTS; i++) {
        struct cached_statement *slot = &cache->slots[i];
        if (slot->prepared && release)
            release(slot->prepared);
        free(slot->text);
        *slot = (struct cached_statement){0};
    }
    cache->used = 0;
}
