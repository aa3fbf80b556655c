/*
 * Guessing passwords is slowed down: after five failed sign-ins with an e-mail in 15 minutes the next one must wait a
 * minute, and twice as long after each further failure. Counted by e-mail in the database, so a fleet counts together;
 * and whether or not there is an account, so the answer does not tell.
 *
 * An attempt is counted as failed before anybody is told how it went, and forgiven after: of a hundred guesses at once
 * five learn something. All functions belong into a unit of work.
 */
#ifndef AUTH_THROTTLE_H
#define AUTH_THROTTLE_H

#include "db/db.h"

enum { THROTTLE_FAILURES = 5 };

/* How long the next attempt must wait, without counting one; 0 if it need not. */
int64_t throttle_wait(struct tx *tx, struct str email_hash, int64_t now);

/* False: too many (or the unit has failed); *wait_ms tells for how long. */
bool throttle_count(struct tx *tx, struct str email_hash, int64_t now, int64_t *wait_ms);

/* It was no failure, and the right password forgives those before, too. */
bool throttle_forgive(struct tx *tx, struct str email_hash);

/* Forgets what no longer matters. */
bool throttle_sweep(struct tx *tx, int64_t now);

#endif
