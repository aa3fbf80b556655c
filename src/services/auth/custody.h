/*
 * What the operator does with somebody's account, on the command line. Whoever is signed in with it is signed out at
 * once, on every server: a role and a password are never changed under a session that was begun without them. From a
 * task.
 */
#ifndef AUTH_CUSTODY_H
#define AUTH_CUSTODY_H

#include "services/auth/account.h"

struct app;

/* The account of an e-mail, which is normalized. */
__attribute__((warn_unused_result)) enum account_outcome custody_find(const struct app *app, struct arena *arena,
                                                                      struct str email, struct account *account);

/* Gives the account another role. */
__attribute__((warn_unused_result)) enum account_outcome
custody_set_role(const struct app *app, struct arena *arena, const struct account *account, enum role role);

/* The same with a new password, for somebody whom the operator knows: the only way in from then on, so whoever had the
 * account before has it no more. ROLE_ANONYMOUS: the role stays. */
__attribute__((warn_unused_result)) enum account_outcome custody_hand_over(const struct app *app, struct arena *arena,
                                                                           const struct account *account,
                                                                           struct str password_hash, enum role role);

#endif
