/* JSON Web Tokens as this server makes and believes them: HS256 only, compact form. Any thread. */
#ifndef GATEWAY_JWT_H
#define GATEWAY_JWT_H

#include "base/arena.h"
#include "base/str.h"
#include "http/identity.h"

enum {
    JWT_KEY_MIN = 32,          /* bytes; shorter keys sign nothing and verify nothing */
    JWT_MAX_BYTES = 4096,      /* of a token */
    JWT_SIGNATURE_LENGTH = 43, /* the last characters of every token: 32 bytes in base64 */
    JWT_LEEWAY_S = 5,          /* how far the clock of the server that made it may be ahead of ours */
};

struct jwt_claims {
    struct str issuer, audience, subject;
    struct str token_id, family;               /* jti, fam; empty: left out */
    struct str user_id;                        /* uid, of entry tokens; empty: left out */
    enum role role;                            /* ROLE_ANONYMOUS: left out */
    int64_t issued_at, not_before, expires_at; /* Unix seconds */
};

/* "USER", "STAFF", "ADMIN", as they stand in tokens and tables; "" for nobody. */
struct str role_name(enum role role);
__attribute__((warn_unused_result)) bool role_from(struct str name, enum role *role);

/* In the arena; ptr NULL when the key is too short or the claims are too long. Times of 0 are left out. */
struct str jwt_sign(struct arena *arena, struct str key, const struct jwt_claims *claims);

enum jwt_outcome {
    JWT_OK,
    JWT_MALFORMED, /* not a token, or not one of ours: another algorithm, a critical header, doubled members … */
    JWT_FORGED,    /* the signature is wrong */
    JWT_EXPIRED,
    JWT_EARLY,
    JWT_STRANGE, /* another issuer or audience */
};

/* `issuer` and `audience` are what must stand in it, empty for none; `now` Unix seconds. The claims' strings are in the
 * arena. */
__attribute__((warn_unused_result)) enum jwt_outcome jwt_verify(struct arena *arena, struct str token, struct str key,
                                                                struct str issuer, struct str audience, int64_t now,
                                                                struct jwt_claims *claims);

#endif
