/*
 * Other servers on the same PostgreSQL, for a server without Redis. Seats stay right, since the database keeps them,
 * but what is shared through Redis is not: a duplicate that goes to the other server, limits by address, tokens that
 * were taken back there, changes of the house before the next look. So it is said, in the log and by /readyz. On the
 * first loop.
 */
#ifndef SYSTEM_NEIGHBOURS_H
#define SYSTEM_NEIGHBOURS_H

#include "db/db.h"

struct neighbours;

struct neighbours *neighbours_create(struct db *db);    /* NULL: no memory */
void neighbours_destroy(struct neighbours *neighbours); /* when no loop runs any more */

/* On the loop, and on the same loop before it ends. */
void neighbours_start(struct neighbours *neighbours);
void neighbours_stop(struct neighbours *neighbours);

/* NULL while there are none, and for NULL; else what to do, in words for /readyz. Any thread. */
const char *neighbours_warning(const struct neighbours *neighbours);

#endif
