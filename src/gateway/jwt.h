/* JSON Web Tokens as this server makes and believes them: HS256 only, compact form. Any thread. */
#ifndef GATEWAY_JWT_H
#define GATEWAY_JWT_H

#include "base/arena.h"
#include "base/str.h"
#include "http/identity.h"

enum { JWT_KEY_MIN = 32 };

struct jwt_claims {
    struct str issuer, audience, subject;
    struct str token_id, family;               /* jti, fam; empty: left out */
    struct str user_id;                        /* uid, of entry tokens; empty: left out */
    enum role role;                            /* ROLE_ANONYMOUS: left out */
    int64_t issued_at, not_before, expires_at; /* Unix seconds */
};

struct str jwt_sign(struct arena *arena, struct str key, const struct jwt_claims *claims);

enum jwt_outcome {
    JWT_OK,
    JWT_MALFORMED, /* not a token, or not one of ours: another algorithm, a critical header, doubled members … */
    JWT_FORGED,    /* the signature is wrong */
    JWT_EXPIRED,
    JWT_EARLY,
    JWT_STRANGE, /* another issuer or audience */
};

/* `issuer` and `audience` are what must stand in it; `now` Unix seconds. The claims' strings are in the arena. */
__attribute__((warn_unused_result)) enum jwt_outcome jwt_verify(struct arena *arena, struct str token, struct str key,
                                                                struct str issuer, struct str audience, int64_t now,
                                                                struct jwt_claims *claims);

#endif
