/* The rows of a batch of claims: as arrays, which the database unnests. Private to the ticket service. */
#ifndef TICKET_CLAIM_WRITE_H
#define TICKET_CLAIM_WRITE_H

#include "services/ticket/claim.h"

/* Claims, and the history of what was changed. False when a statement failed; DB_CONSTRAINT when a seat or a user is in
 * the table already, which the house in memory did not know. */
bool claim_write(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now);

#endif
