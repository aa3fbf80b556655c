/* The name and the phone that a buyer gave with a claim: stored encrypted, bound to the house and the user. */
#ifndef TICKET_PERSONAL_H
#define TICKET_PERSONAL_H

#include "pii/pii.h"
#include "services/ticket/claim.h"

/* Replaces both by what is stored. What was not given stays so and costs nothing. On the loop that has the claim, not
 * on the one thread that writes for all. */
void personal_seal(const struct pii *pii, struct arena *arena, int64_t house, struct claim *claim);

/* From a task, once at start: an earlier version stored them in the open; says so in the log while some are left. */
void personal_warn_of_plain(struct db *db);

/* From a task: drops them from all claims of the user. */
__attribute__((warn_unused_result)) bool personal_forget(struct db *db, struct str user);

#endif
