#include "gateway/token_cache.h"

#include <stdlib.h>

enum { PLACES = 4096 };

struct known_token {
    uint64_t hash;
    struct str token;
    struct jwt_claims claims;
    char bytes[]; /* of the token and of the claims */
};

struct token_cache {
    struct known_token *places[PLACES];
};

struct token_cache *token_cache_create(void)
{
    return calloc(1, sizeof(struct token_cache));
}

void token_cache_destroy(struct token_cache *cache)
{
    for (size_t i = 0; i < PLACES; i++)
        free(cache->places[i]);
    free(cache);
}

/* The whole token is compared, not its hash only, and in constant time: how close a guess came must not show. */
const struct jwt_claims *token_cache_find(struct token_cache *cache, struct str token, int64_t now)
{
    uint64_t hash = str_hash(token);
    const struct known_token *known = cache->places[hash % PLACES];
    if (!known || known->hash != hash || !str_eq_secret(known->token, token) || known->claims.expires_at <= now)
        return NULL;
    return &known->claims;
}

static struct str copy(char **at, struct str s)
{
    struct str copied = str_make(*at, s.len);
    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return copied;
}

void token_cache_keep(struct token_cache *cache, struct str token, const struct jwt_claims *claims)
{
    size_t size = token.len + claims->subject.len + claims->token_id.len + claims->family.len;
    struct known_token *known = malloc(sizeof(*known) + size);
    if (!known)
        return; /* then it is verified each time */
    char *at = known->bytes;
    known->hash = str_hash(token);
    known->token = copy(&at, token);
    known->claims = (struct jwt_claims){
        .subject = copy(&at, claims->subject),
        .token_id = copy(&at, claims->token_id),
        .family = copy(&at, claims->family),
        .role = claims->role,
        .expires_at = claims->expires_at,
    };
    struct known_token **place = &cache->places[known->hash % PLACES];
    free(*place);
    *place = known;
}
