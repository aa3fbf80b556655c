/*
 * A set of seat numbers 1..N that finds its lowest member at or above a number in
 * a few steps, however large the house: bits, with a bit above each 64 of them
 * that says whether any is set, and so on up.
 */
#ifndef TICKET_SEAT_SET_H
#define TICKET_SEAT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEAT_SET_LEVELS = 5 }; /* 64^5: more than a thousand million seats */

struct seat_set {
    uint64_t *levels[SEAT_SET_LEVELS]; /* [0] has a bit per seat */
    int64_t capacity;
};

/* Empty. False when there is no memory. */
bool seat_set_init(struct seat_set *set, int64_t capacity);
void seat_set_free(struct seat_set *set);

void seat_set_add(struct seat_set *set, int64_t seat);
void seat_set_remove(struct seat_set *set, int64_t seat);
bool seat_set_has(const struct seat_set *set, int64_t seat);

/* The lowest member that is `from` or more; 0 when there is none. */
int64_t seat_set_next(const struct seat_set *set, int64_t from);

/* Makes all of 1..capacity members. */
void seat_set_fill(struct seat_set *set);

#endif
