/* The filters of the chain, and what they share. Each returns true to go on; false when it has answered. All on the
 * request's task. Private to gateway/. */
#ifndef GATEWAY_FILTERS_H
#define GATEWAY_FILTERS_H

#include "gateway/gateway.h"
#include "http/router.h"

struct token_cache;
struct rate_fallback;

struct gateway {
    struct gateway_parts parts;
    struct token_cache **caches; /* one per loop */
    struct rate_fallback *fallback;
};

/* cookie.c: finds the token, in the Authorization header or else in the cookie; and refuses what another site's page
 * may have sent with our cookies. */
bool filter_cookie(struct gateway *gateway, struct request *rq);

/* identity.c: fills rq->identity, and takes away what the client says about that. */
bool filter_identity(struct gateway *gateway, struct request *rq);

/* rate_limit.c */
bool filter_rate_limit(struct gateway *gateway, struct request *rq);

/* entry_token.c: the way into a house with a waiting room leads through the waiting room. */
bool filter_entry_token(struct gateway *gateway, struct request *rq);

/* access.c: by the column `access`. */
bool filter_access(struct gateway *gateway, struct request *rq);

/* "Bearer <token>"; ptr NULL where there is no such header. */
struct str bearer_token(const struct request *rq);

#endif
