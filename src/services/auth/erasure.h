/*
 * The end of an account. What was sold stays sold: other services keep the id, which never comes again, but nothing
 * that tells whose it was.
 */
#ifndef AUTH_ERASURE_H
#define AUTH_ERASURE_H

#include "services/auth/session.h"

/* From a task: for good, whoever asks; that they may is for the caller to find out. */
__attribute__((warn_unused_result)) enum account_outcome
account_erase_now(const struct app *app, const struct account *account, struct arena *arena);

/* In a unit, for an account that was erased or has changed hands in it: ends its sessions and forgets from where it was
 * used. */
bool account_erase_traces(struct tx *tx, struct str user_id, int64_t now, struct ended_tokens *ended);

#endif
