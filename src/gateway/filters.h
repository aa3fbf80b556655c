/* The filters of the chain, and what they share. Each returns true to go on; false when it has answered. All on the
 * request's task. Private to gateway/. */
#ifndef GATEWAY_FILTERS_H
#define GATEWAY_FILTERS_H

#include "gateway/gateway.h"
#include "gateway/guest.h"
#include "http/router.h"

#include <stdatomic.h>

struct token_cache;
struct rate_fallback;

struct gateway {
    struct gateway_parts parts;
    struct token_cache **caches; /* one per loop */
    struct rate_fallback *fallback;
    bool local; /* only this machine reaches the server, and no proxy brings others: user_header.c */
    struct {
        atomic_llong logged_ns; /* when a line was written last; 0: never */
        atomic_llong unlogged;  /* refusals since then */
    } operator_refusals;
};

/* cookie.c: finds the token, in the Authorization header or else in the cookie; and refuses what another site's page
 * may have sent with our cookies. */
bool filter_cookie(struct gateway *gateway, struct request *rq);

/* identity.c: fills rq->identity, and takes away what the client says about that. */
bool filter_identity(struct gateway *gateway, struct request *rq);

/* rate_limit.c */
bool filter_rate_limit(struct gateway *gateway, struct request *rq);
enum { RATE_WINDOW_MS = 60 * 1000, RATE_KEY_MAX = 192 };
/* The key of a count by address: an IPv6 network counts as one. */
struct str rate_key_of_address(const struct request *rq, const char *name, char out[RATE_KEY_MAX]);
/* Answers 429; always false. */
bool rate_refuse(struct request *rq, int64_t retry_after_s);

/* entry_token.c: the way into a house with a waiting room leads through the waiting room. */
bool filter_entry_token(struct gateway *gateway, struct request *rq);

/* access.c: by the column `access`. */
bool filter_access(struct gateway *gateway, struct request *rq);

/* operator_token.c: does the request carry the operator's token? */
enum operator_token {
    OPERATOR_TOKEN_NONE,
    OPERATOR_TOKEN_RIGHT,
    OPERATOR_TOKEN_WRONG,    /* counted, and told in the log */
    OPERATOR_TOKEN_TOO_MANY, /* wrong ones came from this address: whether this one is right is not told */
};
enum operator_token operator_token_check(struct gateway *gateway, struct request *rq);

/* user_header.c: the user whom a plain header names, where that is believed; empty: nobody. Fills in by_gateway. */
struct str user_header_read(const struct gateway *gateway, struct request *rq);
bool user_header_is_local(const struct settings *settings);

/* "Bearer <token>"; ptr NULL where there is no such header. */
struct str bearer_token(const struct request *rq);

#endif
