/* A number per seat, and quickly the lowest seat whose number is below a bound. Owner: whoever called seat_tree_init.
 * One thread. */
#ifndef HISTORY_SEAT_TREE_H
#define HISTORY_SEAT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seat_tree {
    int64_t *least; /* of both children; the seats are the leaves, from least[leaves] on */
    size_t leaves;
};

/* Every seat from 1 to `seats` has `value`. False when memory is short. */
bool seat_tree_init(struct seat_tree *tree, int64_t seats, int64_t value);
void seat_tree_free(struct seat_tree *tree);

int64_t seat_tree_get(const struct seat_tree *tree, int64_t seat);
void seat_tree_set(struct seat_tree *tree, int64_t seat, int64_t value);

/* 0 when no seat has a number below the bound. */
int64_t seat_tree_lowest_below(const struct seat_tree *tree, int64_t bound);

#endif
