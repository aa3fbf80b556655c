/*
 * Verified identities: a verifying service (with a licence to do so) has confirmed who somebody is and told us the
 * person's CI, the same number for the same person everywhere. A registration may refer to such a verification, once
 * and for a short time; the CI then belongs to the account, and a second account of the same person is refused. We
 * never take a client's word for it.
 */
#ifndef AUTH_IDENTITY_H
#define AUTH_IDENTITY_H

#include "db/db.h"
#include "pii/pii.h"

enum { CI_MAX = 128 };

/* From a task: what the verifying service told, good for so long. Again for the same id replaces it. */
__attribute__((warn_unused_result)) enum db_outcome identity_store(struct db *db, const struct pii *pii,
                                                                   struct arena *arena, struct str id, struct str ci,
                                                                   int64_t lifetime_ms);

/* In a unit: takes it away and gives the plain CI and its hash, in the unit's arena. False: there is none (any more).
 */
bool identity_take(struct tx *tx, const struct pii *pii, struct str id, int64_t now, struct str *ci,
                   struct str *ci_hash);

/* In a unit: drops those that expired before. */
bool identity_sweep(struct tx *tx, int64_t before);

#endif
