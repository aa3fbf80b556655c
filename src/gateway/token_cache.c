#include "gateway/token_cache.h"

#include "gateway/jwt.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { WAYS = 4 };

struct known_token {
    int64_t expires_at;
    enum role role;
    uint16_t user_id_length, token_id_length, family_length, token_length;
    char bytes[]; /* of the user id, the token id, the family and the token, one behind the other */
};

struct place {
    uint64_t hash; /* of the signature */
    struct known_token *known;
};

/* The places where a token may be. One line of the processor's cache tells whether it is there. */
struct set {
    _Alignas(64) struct place places[WAYS];
};

struct token_cache {
    size_t set_count; /* a power of two */
    struct set *sets; /* straight from the kernel, which gives memory where it is used */
};

struct token_cache *token_cache_create(size_t room)
{
    struct token_cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    for (cache->set_count = 1; cache->set_count * 2 * WAYS <= room;)
        cache->set_count *= 2;
    cache->sets =
        mmap(NULL, cache->set_count * sizeof(struct set), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (cache->sets != MAP_FAILED)
        return cache;
    free(cache);
    return NULL;
}

void token_cache_destroy(struct token_cache *cache)
{
    for (size_t i = 0; i < cache->set_count; i++)
        for (size_t way = 0; way < WAYS; way++)
            free(cache->sets[i].places[way].known);
    munmap(cache->sets, cache->set_count * sizeof(struct set));
    free(cache);
}

/* A good token is known by its signature already, which cannot be chosen. */
static struct str signature_of(struct str token)
{
    return str_from_offset(token, token.len - JWT_SIGNATURE_LENGTH);
}

static struct set *set_of(struct token_cache *cache, uint64_t hash)
{
    return &cache->sets[hash & (cache->set_count - 1)];
}

/* All of the token is compared, not its hash only. First the signature, in constant time: how close a guess came must
 * not show. Who has that right has the token. */
static bool is_of(const struct known_token *known, struct str token)
{
    size_t before = (size_t)known->user_id_length + known->token_id_length + known->family_length;
    struct str kept = str_make(known->bytes + before, known->token_length);
    return kept.len == token.len && str_eq_secret(signature_of(kept), signature_of(token)) && str_eq(kept, token);
}

static const struct known_token *find(struct token_cache *cache, struct str token)
{
    if (token.len <= JWT_SIGNATURE_LENGTH)
        return NULL;
    uint64_t hash = str_hash(signature_of(token));
    const struct set *set = set_of(cache, hash);
    for (size_t way = 0; way < WAYS; way++) {
        const struct place *place = &set->places[way];
        if (place->hash == hash && place->known && is_of(place->known, token))
            return place->known;
    }
    return NULL;
}

static struct str take(const char **at, size_t length)
{
    struct str taken = str_make(*at, length);
    *at += length;
    return taken;
}

bool token_cache_find(struct token_cache *cache, struct str token, int64_t now, struct arena *arena,
                      struct identity *identity)
{
    const struct known_token *known = find(cache, token);
    if (!known || known->expires_at <= now)
        return false;
    size_t length = (size_t)known->user_id_length + known->token_id_length + known->family_length;
    const char *at = arena_copy(arena, str_make(known->bytes, length)).ptr; /* another token may take the place */
    identity->role = known->role;
    identity->user_id = take(&at, known->user_id_length);
    identity->token_id = take(&at, known->token_id_length);
    identity->family = take(&at, known->family_length);
    identity->expires_at = known->expires_at;
    return true;
}

static struct known_token *copy(struct str token, const struct identity *identity)
{
    size_t length = token.len + identity->user_id.len + identity->token_id.len + identity->family.len;
    struct known_token *known = length <= UINT16_MAX ? malloc(sizeof(*known) + length) : NULL;
    if (!known)
        return NULL;
    *known = (struct known_token){
        .expires_at = identity->expires_at,
        .role = identity->role,
        .user_id_length = (uint16_t)identity->user_id.len,
        .token_id_length = (uint16_t)identity->token_id.len,
        .family_length = (uint16_t)identity->family.len,
        .token_length = (uint16_t)token.len,
    };
    char *at = str_put(known->bytes, identity->user_id);
    at = str_put(at, identity->token_id);
    at = str_put(at, identity->family);
    str_put(at, token);
    return known;
}

/* An empty one, else one whose token has expired, else one that the hash points at. */
static struct place *place_for(struct set *set, uint64_t hash, int64_t now)
{
    for (size_t way = 0; way < WAYS; way++) {
        struct place *place = &set->places[way];
        if (!place->known || place->known->expires_at <= now)
            return place;
    }
    return &set->places[(hash >> 32) % WAYS];
}

void token_cache_keep(struct token_cache *cache, struct str token, int64_t now, const struct identity *identity)
{
    struct known_token *known = token.len > JWT_SIGNATURE_LENGTH ? copy(token, identity) : NULL;
    if (!known)
        return; /* then it is verified each time */
    uint64_t hash = str_hash(signature_of(token));
    struct place *place = place_for(set_of(cache, hash), hash, now);
    free(place->known);
    *place = (struct place){hash, known};
}
