#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 4096, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *older;
    size_t size;
    size_t used;
    _Alignas(ALIGNMENT) char bytes[];
};

void arena_init(struct arena *arena, size_t limit)
{
    *arena = (struct arena){.limit = limit};
}

static void free_blocks(struct arena_block *block, const struct arena_block *keep)
{
    while (block != keep) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
}

void arena_free(struct arena *arena)
{
    free_blocks(arena->block, NULL);
    arena->block = NULL;
    arena->total = 0;
}

void arena_reset(struct arena *arena)
{
    struct arena_block *oldest = arena->block;
    if (!oldest)
        return;
    while (oldest->older)
        oldest = oldest->older;
    free_blocks(arena->block, oldest);
    oldest->used = 0;
    arena->block = oldest;
    arena->total = oldest->size;
}

_Noreturn static void exhausted(struct arena *arena)
{
    if (arena->exhausted)
        arena->exhausted(arena->context);
    fputs("tickettock: out of memory\n", stderr);
    abort();
}

/* Each block is at least as large as all before it together, so that a large
 * arena has few blocks. */
static void add_block(struct arena *arena, size_t size)
{
    size_t want = arena->total > FIRST_BLOCK - sizeof(struct arena_block) ? arena->total
                                                                          : FIRST_BLOCK - sizeof(struct arena_block);
    if (want < size)
        want = size;
    if (want > arena->limit - arena->total)
        want = arena->limit - arena->total;
    struct arena_block *block = want < size ? NULL : malloc(sizeof(*block) + want);
    if (!block)
        exhausted(arena);
    *block = (struct arena_block){.older = arena->block, .size = want};
    arena->block = block;
    arena->total += want;
}

static char *take(struct arena *arena, size_t size, size_t alignment)
{
    if (size > arena->limit)
        exhausted(arena);
    for (;;) {
        struct arena_block *block = arena->block;
        size_t start = block ? (block->used + alignment - 1) & ~(alignment - 1) : 0;
        if (block && start <= block->size && size <= block->size - start) {
            block->used = start + size;
            return block->bytes + start;
        }
        add_block(arena, size);
    }
}

void *arena_alloc(struct arena *arena, size_t size)
{
    return memset(take(arena, size, ALIGNMENT), 0, size);
}

void *arena_alloc_array(struct arena *arena, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        exhausted(arena);
    return arena_alloc(arena, total);
}

char *arena_bytes(struct arena *arena, size_t size)
{
    return take(arena, size, 1);
}

struct str arena_copy(struct arena *arena, struct str s)
{
    char *bytes = arena_bytes(arena, s.len);
    if (s.len)
        memcpy(bytes, s.ptr, s.len);
    return (struct str){bytes, s.len};
}

struct str arena_join(struct arena *arena, const struct str *pieces, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += pieces[i].len;
    char *bytes = arena_bytes(arena, length), *at = bytes;
    for (size_t i = 0; i < count; i++)
        at = str_put(at, pieces[i]);
    return (struct str){bytes, length};
}

const char *arena_c_string(struct arena *arena, struct str s)
{
    char *bytes = arena_bytes(arena, s.len + 1);
    if (s.len)
        memcpy(bytes, s.ptr, s.len);
    bytes[s.len] = '\0';
    return bytes;
}

struct str arena_format(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        exhausted(arena);

    char *bytes = arena_bytes(arena, (size_t)length + 1);
    va_start(args, format);
    vsnprintf(bytes, (size_t)length + 1, format, args);
    va_end(args);
    return (struct str){bytes, (size_t)length};
}
