/*
 * Memory that is freed all at once: a request's, a unit of work's, a test's.
 * Nothing taken from an arena is freed by itself.
 *
 * An arena has a limit. When the limit is reached or the machine has no memory,
 * the arena calls its `exhausted` function, which must not return (a request's
 * jumps out of the handler and answers 503); without one, the program stops. So
 * the functions here never return NULL, and handlers need no checks.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/buf.h"
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* the newest, from which memory is taken */
    size_t total;              /* in all blocks */
    size_t limit;
    void (*exhausted)(void *context);
    void *context;
};

void arena_init(struct arena *arena, size_t limit);
void arena_free(struct arena *arena);

/* Frees all but the oldest block, which is used again. */
void arena_reset(struct arena *arena);

/* Zeroed, aligned for every type. */
void *arena_alloc(struct arena *arena, size_t size);
void *arena_alloc_array(struct arena *arena, size_t count, size_t size);

/* Not zeroed, not aligned: for bytes. */
char *arena_bytes(struct arena *arena, size_t size);

struct str arena_copy(struct arena *arena, struct str s);

/* The pieces one behind the other: cheaper than arena_format where many come by.
 *     ARENA_JOIN(arena, STR("user:"), name) */
struct str arena_join(struct arena *arena, const struct str *pieces, size_t count);
#define ARENA_JOIN(arena, ...)                                                                                         \
    arena_join((arena), (const struct str[]){__VA_ARGS__},                                                             \
               sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))

/* With a NUL behind it, for C interfaces. */
const char *arena_c_string(struct arena *arena, struct str s);

__attribute__((format(printf, 2, 3))) struct str arena_format(struct arena *arena, const char *format, ...);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_NEW_ARRAY(arena, type, count) ((type *)arena_alloc_array((arena), (count), sizeof(type)))

#endif
