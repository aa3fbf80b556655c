/*
 * Which statements a connection has prepared, by the statement's address. Bounded:
 * a statement that finds no slot is prepared for one use only. Its text is compared
 * as well, since another statement may come to lie at the address of one that was
 * not static. Belongs to one connection and its thread.
 */
#ifndef DB_STATEMENT_CACHE_H
#define DB_STATEMENT_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct statement;

struct cached_statement {
    const struct statement *key; /* NULL: empty */
    char *text;
    void *prepared; /* the adapter's; NULL until it has prepared the statement */
};

enum { STATEMENT_CACHE_SLOTS = 512 };

struct statement_cache {
    struct cached_statement slots[STATEMENT_CACHE_SLOTS];
    size_t used;
};

/* The statement's slot, new ones with `prepared` NULL. NULL when it cannot have one. */
struct cached_statement *statement_cache_find(struct statement_cache *cache, const struct statement *key,
                                              const char *text);

/* Forgets all; `release` (may be NULL) gets what was prepared. */
void statement_cache_clear(struct statement_cache *cache, void (*release)(void *prepared));

#endif
