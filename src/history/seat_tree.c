#include "history/seat_tree.h"

#include <stdlib.h>

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool seat_tree_init(struct seat_tree *tree, int64_t seats, int64_t value)
{
    tree->leaves = 1;
    while (tree->leaves < (size_t)seats)
        tree->leaves *= 2;
    tree->least = malloc(2 * tree->leaves * sizeof(*tree->least));
    if (!tree->least)
        return false;
    for (size_t i = 0; i < tree->leaves; i++)
        tree->least[tree->leaves + i] = i < (size_t)seats ? value : INT64_MAX;
    for (size_t i = tree->leaves - 1; i > 0; i--)
        tree->least[i] = lesser(tree->least[2 * i], tree->least[2 * i + 1]);
    return true;
}

void seat_tree_free(struct seat_tree *tree)
{
    free(tree->least);
}

int64_t seat_tree_get(const struct seat_tree *tree, int64_t seat)
{
    return tree->least[tree->leaves + (size_t)seat - 1];
}

void seat_tree_set(struct seat_tree *tree, int64_t seat, int64_t value)
{
    size_t at = tree->leaves + (size_t)seat - 1;
    tree->least[at] = value;
    while ((at /= 2) > 0)
        tree->least[at] = lesser(tree->least[2 * at], tree->least[2 * at + 1]);
}

int64_t seat_tree_lowest_below(const struct seat_tree *tree, int64_t bound)
{
    if (tree->least[1] >= bound)
        return 0;
    size_t at = 1;
    while (at < tree->leaves)
        at = tree->least[2 * at] < bound ? 2 * at : 2 * at + 1;
    return (int64_t)(at - tree->leaves) + 1;
}
