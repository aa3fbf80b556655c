/*
 * Access tokens that were taken back before their time (logout, password change, erasure). The truth is the table
 * revoked_tokens of the auth service; every server keeps the unexpired ones in memory, hears of new ones by
 * publish/subscribe, and reads the table again after a gap. So looking one up never waits.
 */
#ifndef GATEWAY_REVOKED_H
#define GATEWAY_REVOKED_H

#include "base/str.h"
#include "db/db.h"

struct revoked;

/* Inside the unit of work that ends the session: writes the row. */
bool revoked_write(struct tx *tx, struct str token_id, int64_t expires_at);
/* After the commit, from a task: tells this server at once, the others by announcement. */
void revoked_announce(struct revoked *revoked, struct str token_id, int64_t expires_at);

bool revoked_has(struct revoked *revoked, struct str token_id); /* any thread */

#endif
