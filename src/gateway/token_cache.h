/*
 * Access tokens that were found good, so that a user who comes again costs a look-up instead of a signature. One per
 * loop, used by it alone. Whether a token was taken back meanwhile is not known here; ask gateway/revoked.h.
 *
 * Bounded: with TOKEN_CACHE_ROOM tokens of our own making the caches of a server take some 160 MB; each token takes
 * its memory when it comes. Where the places for a token are taken it gets that of one that has expired, else that of
 * any. Only who has signed in can fill it: what was not verified is not kept.
 */
#ifndef GATEWAY_TOKEN_CACHE_H
#define GATEWAY_TOKEN_CACHE_H

#include "base/arena.h"
#include "http/identity.h"

/* Of all loops together. Twice an audience that may come to any of two loops, and twice that: half empty, nearly every
 * token finds a place. */
enum { TOKEN_CACHE_ROOM = 256 * 1024 };

struct token_cache;

struct token_cache *token_cache_create(size_t room); /* NULL: no memory */
void token_cache_destroy(struct token_cache *cache);

/* Fills in who this very token names, and until when, with strings in the arena. False: not known, or expired. */
__attribute__((warn_unused_result)) bool token_cache_find(struct token_cache *cache, struct str token, int64_t now,
                                                          struct arena *arena, struct identity *identity);

/* Copies what token_cache_find is to fill in. The token has been verified. */
void token_cache_keep(struct token_cache *cache, struct str token, int64_t now, const struct identity *identity);

#endif
