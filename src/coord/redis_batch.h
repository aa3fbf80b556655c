/* The operations whose requests travel together: lock, unlock, sequence. */
#ifndef COORD_REDIS_BATCH_H
#define COORD_REDIS_BATCH_H

#include "coord/redis_link.h"

/* data: a coord_lock; reply: 1 locked, 0 taken. */
extern const struct redis_operation redis_lock_operation;
/* data: a coord_lock; reply: 1 released, 0 not the owner's. */
extern const struct redis_operation redis_unlock_operation;
/* data: a coord_lock that is certainly the owner's, and the owner's alone. No script, so it costs Redis little. */
extern const struct redis_operation redis_remove_locks_operation;
/* group: the key; number: the value drawn. */
extern const struct redis_operation redis_sequence_operation;

/* What decides on which node of a cluster a key lives: the part in the first braces, else all of it. */
struct str redis_hash_tag(struct str key);

#endif
