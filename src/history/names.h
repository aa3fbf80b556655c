/* Each name once, with a small number for it: 0, 1, 2 … in the order of their coming. Owner: whoever called
 * names_init, who calls names_free. One thread. */
#ifndef HISTORY_NAMES_H
#define HISTORY_NAMES_H

#include "base/arena.h"

struct names {
    struct arena bytes;
    struct str *list;
    uint32_t count, room;
    uint32_t *slots; /* number + 1; 0: free */
    size_t mask;
};

enum { NAMES_NONE = -1 };

void names_init(struct names *names);
void names_free(struct names *names);

/* The number of the name, a new one if it is new; NAMES_NONE when memory is short. */
int64_t names_add(struct names *names, struct str name);

/* NAMES_NONE when it is not there. */
int64_t names_find(const struct names *names, struct str name);

#endif
