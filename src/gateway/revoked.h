/*
 * Access tokens that were taken back before their time (logout, password change, another role, erasure). The truth is
 * the table revoked_tokens of the auth service; every server keeps the unexpired ones in memory, hears of new ones by
 * publish/subscribe, looks every second for new rows, in case the one who should have told died first or is a command
 * that cannot, and reads the whole table after a gap and every minute. So looking one up never waits.
 *
 * While the table cannot be read, what was known still holds. REVOKED_MAX are kept; beyond that, which is more
 * sign-outs than passwords can be checked in the life of a token, further ones are logged as an error and not known.
 */
#ifndef GATEWAY_REVOKED_H
#define GATEWAY_REVOKED_H

#include "base/str.h"
#include "coord/coord.h"
#include "db/db.h"

enum { REVOKED_MAX = 512 * 1024 };

struct revoked;

/* NULL: no memory. A command that only announces need not start it. */
struct revoked *revoked_create(struct db *accounts, struct coord *coord);
void revoked_destroy(struct revoked *revoked); /* when no loop runs any more */

/* On the loop that will listen, and on the same loop before it ends. */
void revoked_start(struct revoked *revoked);
void revoked_stop(struct revoked *revoked);

/* Inside the unit of work that ends the session: writes the row. */
bool revoked_write(struct tx *tx, struct str token_id, int64_t expires_at);
/* After the commit, from a task: tells this server at once, the others by announcement. */
void revoked_announce(struct revoked *revoked, struct str token_id, int64_t expires_at);

bool revoked_has(struct revoked *revoked, struct str token_id); /* any thread */

#endif
