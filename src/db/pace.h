/*
 * When to let a group form. Tasks that are woken together come back almost
 * together, but the first of them would start the next commit alone, and the
 * others would wait for it and for their own. So whoever waits for this processor
 * goes first; and when a commit takes long, up to half of its duration is spent
 * waiting for as many as last time. More than enough to share a commit are not
 * waited for. Belongs to whoever forms the groups, one thread at a time.
 */
#ifndef DB_PACE_H
#define DB_PACE_H

#include "task/queue.h"

struct pace {
    size_t last_count;
    int64_t began_ns, last_took_ns;
};

/* Before a group is taken out of `waiting`, from which nobody else takes; `count` have been taken already. */
void pace_gather(const struct pace *pace, struct queue *waiting, size_t count);

void pace_begin(struct pace *pace);
void pace_end(struct pace *pace, size_t count);

#endif
