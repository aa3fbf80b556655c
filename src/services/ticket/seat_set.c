#include "services/ticket/seat_set.h"

#include <assert.h>
#include <stdlib.h>

enum { BITS = 64 };

/* Bit numbers are seat - 1. Level k has a bit for every 64 of level k - 1. */
static size_t words_of(int64_t bits)
{
    return (size_t)(bits / BITS + 1);
}

bool seat_set_init(struct seat_set *set, int64_t capacity)
{
    *set = (struct seat_set){.capacity = capacity};
    int64_t bits = capacity;
    for (int level = 0; level < SEAT_SET_LEVELS; level++) {
        set->levels[level] = calloc(words_of(bits), sizeof(uint64_t));
        if (!set->levels[level]) {
            seat_set_free(set);
            return false;
        }
        bits = bits / BITS + 1;
    }
    return true;
}

void seat_set_free(struct seat_set *set)
{
    for (int level = 0; level < SEAT_SET_LEVELS; level++) {
        free(set->levels[level]);
        set->levels[level] = NULL;
    }
    set->capacity = 0;
}

void seat_set_add(struct seat_set *set, int64_t seat)
{
    assert(seat >= 1 && seat <= set->capacity);
    int64_t bit = seat - 1;
    for (int level = 0; level < SEAT_SET_LEVELS; level++, bit /= BITS)
        set->levels[level][bit / BITS] |= UINT64_C(1) << (bit % BITS);
}

void seat_set_remove(struct seat_set *set, int64_t seat)
{
    assert(seat >= 1 && seat <= set->capacity);
    int64_t bit = seat - 1;
    for (int level = 0; level < SEAT_SET_LEVELS; level++, bit /= BITS) {
        set->levels[level][bit / BITS] &= ~(UINT64_C(1) << (bit % BITS));
        if (set->levels[level][bit / BITS])
            return; /* the word still has members, so the levels above stay as they are */
    }
}

bool seat_set_has(const struct seat_set *set, int64_t seat)
{
    int64_t bit = seat - 1;
    return seat >= 1 && seat <= set->capacity && set->levels[0][bit / BITS] >> (bit % BITS) & 1;
}

int64_t seat_set_next(const struct seat_set *set, int64_t from)
{
    int64_t bit = from < 1 ? 0 : from - 1;
    if (bit >= set->capacity)
        return 0;
    /* Up, until a word has a member at or behind the bit; then down along the lowest ones. */
    int level = 0;
    uint64_t word = set->levels[0][bit / BITS] & ~UINT64_C(0) << (bit % BITS);
    while (word == 0) {
        if (++level == SEAT_SET_LEVELS)
            return 0;
        bit /= BITS; /* this word, as a bit of the level above; what we want lies behind it */
        word = bit % BITS == BITS - 1 ? 0 : set->levels[level][bit / BITS] & ~UINT64_C(0) << (bit % BITS + 1);
    }
    bit = bit / BITS * BITS + __builtin_ctzll(word);
    while (level > 0) {
        level--;
        bit = bit * BITS + __builtin_ctzll(set->levels[level][bit]);
    }
    return bit + 1;
}

void seat_set_fill(struct seat_set *set)
{
    for (int64_t seat = 1; seat <= set->capacity; seat++)
        seat_set_add(set, seat);
}
