/* Drops what has no meaning any more: expired sessions, forgotten failures, old lines of history, identities that
 * nobody came for. Now and then, on the first loop. */
#ifndef AUTH_SWEEP_H
#define AUTH_SWEEP_H

#include "db/db.h"

struct sweep;

struct sweep *sweep_create(struct db *db, int64_t history_days); /* NULL: no memory */
void sweep_destroy(struct sweep *sweep);                         /* when no loop runs any more */

/* On the loop, and on the same loop before it ends. */
void sweep_start(struct sweep *sweep);
void sweep_stop(struct sweep *sweep);

#endif
