#include "history/names.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1 << 10 };
static const size_t BYTES_MAX = (size_t)1 << 33;

void names_init(struct names *names)
{
    *names = (struct names){0};
    arena_init(&names->bytes, BYTES_MAX);
}

void names_free(struct names *names)
{
    arena_free(&names->bytes);
    free(names->list);
    free(names->slots);
}

/* The slot of the name, or the free one where it would stand. */
static size_t slot_of(const struct names *names, struct str name)
{
    size_t slot = (size_t)str_hash(name) & names->mask;
    while (names->slots[slot] && !str_eq(names->list[names->slots[slot] - 1], name))
        slot = (slot + 1) & names->mask;
    return slot;
}

int64_t names_find(const struct names *names, struct str name)
{
    return names->slots ? (int64_t)names->slots[slot_of(names, name)] - 1 : NAMES_NONE;
}

static bool grow(struct names *names)
{
    size_t slots = names->slots ? 2 * (names->mask + 1) : FIRST_SLOTS;
    uint32_t *fresh = calloc(slots, sizeof(*fresh));
    struct str *list = realloc(names->list, slots / 2 * sizeof(*list));
    if (list)
        names->list = list;
    if (!fresh || !list) {
        free(fresh);
        return false;
    }
    free(names->slots);
    names->slots = fresh;
    names->mask = slots - 1;
    names->room = (uint32_t)(slots / 2);
    for (uint32_t i = 0; i < names->count; i++)
        names->slots[slot_of(names, names->list[i])] = i + 1;
    return true;
}

int64_t names_add(struct names *names, struct str name)
{
    int64_t known = names_find(names, name);
    if (known != NAMES_NONE)
        return known;
    if (names->count == names->room && !grow(names))
        return NAMES_NONE;
    names->list[names->count] = arena_copy(&names->bytes, name);
    names->slots[slot_of(names, name)] = ++names->count;
    return names->count - 1;
}
