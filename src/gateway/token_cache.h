/*
 * Access tokens that were found good, so that a user who comes again costs a look-up instead of a signature. Bounded: a
 * new token takes the place of another with the same number. One per loop, used by it alone. Whether a token was taken
 * back meanwhile is not known here; ask gateway/revoked.h.
 */
#ifndef GATEWAY_TOKEN_CACHE_H
#define GATEWAY_TOKEN_CACHE_H

#include "gateway/jwt.h"

struct token_cache;

struct token_cache *token_cache_create(void); /* NULL: no memory */
void token_cache_destroy(struct token_cache *cache);

/* The claims of this very token, unless it has expired; until the next token_cache_keep. NULL: not known. */
const struct jwt_claims *token_cache_find(struct token_cache *cache, struct str token, int64_t now);

/* Copies both. */
void token_cache_keep(struct token_cache *cache, struct str token, const struct jwt_claims *claims);

#endif
