/* "Did you mean …?" for names that somebody typed. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/str.h"

struct suggest {
    struct str wanted;
    const char *best; /* NULL while nothing is near enough */
    size_t distance;
};

/* A distance of about a third of the name is near enough: two slips in FCFS_SEATS. */
struct suggest suggest_for(struct str wanted);

/* Keeps the name when it is nearer than all before it. ASCII case does not count. */
void suggest_consider(struct suggest *suggest, const char *name);

#endif
