/*
 * Guessing passwords is slowed down: after five failed sign-ins with an e-mail in 15 minutes the next one must wait a
 * minute, and twice as long after each further failure. Counted by e-mail in the database, so a fleet counts together;
 * and whether or not there is an account, so the answer does not tell.
 *
 * An attempt counts as failed from its beginning until it is known to be none: a hundred guesses at once are a hundred
 * attempts. All functions belong into a unit of work.
 */
#ifndef AUTH_THROTTLE_H
#define AUTH_THROTTLE_H

#include "db/db.h"

enum { THROTTLE_FAILURES = 5 };

/* False: too many (or the unit has failed); *wait_ms tells for how long. */
bool throttle_begin(struct tx *tx, struct str email_hash, int64_t now, int64_t *wait_ms);

/* It was no failure: the right password forgives those before, too … */
bool throttle_forgive(struct tx *tx, struct str email_hash);
/* … and an attempt that could not be decided counts as none. */
bool throttle_take_back(struct tx *tx, struct str email_hash);

/* Forgets what no longer matters. */
bool throttle_sweep(struct tx *tx, int64_t now);

#endif
