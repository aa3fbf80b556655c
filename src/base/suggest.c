#include "base/suggest.h"

enum { LONGEST = 63 };

struct suggest suggest_for(struct str wanted)
{
    size_t most = wanted.len / 3 < 3 ? wanted.len / 3 : 3;
    return (struct suggest){.wanted = wanted, .distance = most + 1};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char upper(char c)
{
    return (char)(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
}

/* Insertions, deletions, replacements and swaps of neighbours that make b of a
 * (optimal string alignment), row by row of the usual table. */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][LONGEST + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = upper(a.ptr[i - 1]) == upper(b.ptr[j - 1]);
            row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + !same);
            if (i > 1 && j > 1 && upper(a.ptr[i - 1]) == upper(b.ptr[j - 2]) &&
                upper(a.ptr[i - 2]) == upper(b.ptr[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b.len];
}

void suggest_consider(struct suggest *suggest, const char *name)
{
    struct str candidate = str_from(name);
    if (candidate.len > LONGEST || suggest->wanted.len > LONGEST)
        return;
    size_t far = distance(suggest->wanted, candidate);
    if (far < suggest->distance) {
        suggest->best = name;
        suggest->distance = far;
    }
}
