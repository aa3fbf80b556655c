/*
 * Drops lines of history that are older than HISTORY_DAYS: the oldest of each
 * house first, a few thousand at a time, so that no sale waits for it. Now and
 * then, on the first loop. Servers of a fleet may do it at once: what is gone for
 * one is gone for the other.
 */
#ifndef TICKET_HISTORY_PRUNE_H
#define TICKET_HISTORY_PRUNE_H

#include "db/db.h"

struct history_prune;

struct history_prune *history_prune_create(struct db *db, int64_t days); /* NULL: no memory */
void history_prune_destroy(struct history_prune *prune);                 /* when no loop runs any more */

/* On the loop, and on the same loop before it ends. */
void history_prune_start(struct history_prune *prune);
void history_prune_stop(struct history_prune *prune);

#endif
