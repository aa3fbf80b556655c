/*
 * Anybody can register anybody's e-mail with a password, since nothing is ever sent to it. So when its owner comes with
 * Google, which has verified the address, an account that never proved it gives way: its password and all its sessions
 * end, name and phone are replaced by what Google says, and from where it was used is forgotten. What was sold to it
 * stays with it: most often both are one person, who would lose a seat otherwise; and whoever squatted keeps nothing.
 *
 * An account never gives way that has a role, Google's number of somebody, a verified identity, or an e-mail that
 * the operator vouches for.
 */
#ifndef AUTH_DISPLACE_H
#define AUTH_DISPLACE_H

#include "services/auth/account.h"

struct app;

/* From a task, for somebody whose e-mail was refused as taken. ACCOUNT_EMAIL_TAKEN: for good. */
__attribute__((warn_unused_result)) enum account_outcome displace_unproven(const struct app *app, struct arena *arena,
                                                                           const struct registration *registration,
                                                                           struct account *account);

#endif
