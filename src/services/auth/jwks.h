/*
 * The public keys of an issuer (a JSON Web Key Set), fetched when first needed and kept as long as the issuer's answer
 * allows. An unknown key makes us ask again, since issuers change their keys, but not more often than every few
 * seconds; and one request asks, the others wait for it. One per server; tasks of all loops use it.
 */
#ifndef AUTH_JWKS_H
#define AUTH_JWKS_H

#include "services/auth/rs256.h"

struct jwks;

enum { JWKS_MIN_INTERVAL_S = 5 };

enum jwks_outcome {
    JWKS_FOUND,
    JWKS_UNKNOWN,     /* the issuer has no such key */
    JWKS_UNAVAILABLE, /* the issuer could not be asked */
};

/* `url` outlives it. NULL: no memory. */
struct jwks *jwks_create(struct str url);
void jwks_destroy(struct jwks *jwks);
/* On each loop before it ends. */
void jwks_close_loop(struct jwks *jwks);

/* From a task. The key is the caller's to free. */
__attribute__((warn_unused_result)) enum jwks_outcome jwks_find(struct jwks *jwks, struct str kid,
                                                                struct rs256_key **key);

#endif
