/* The pair of tokens of session.h: made, signed, hashed. */
#include "services/auth/tokens.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/random.h"
#include "gateway/jwt.h"
#include "gateway/keys.h"
#include "services/app.h"
#include "services/auth/session.h"

#include <openssl/evp.h>

void token_hash(struct str token, char hash[TOKEN_HASH_TEXT])
{
    unsigned char digest[32];
    EVP_Digest(token.ptr, token.len, digest, NULL, EVP_sha256(), NULL);
    for (size_t i = 0; i < sizeof(digest); i++) {
        hash[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hash[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
}

struct token_pair token_pair_next(const struct app *app)
{
    unsigned char secret[REFRESH_BYTES];
    int64_t now = clock_wall_ms();
    struct token_pair pair = {
        .now = now,
        .access_expires_at = now / MS_PER_S + app->settings->access_token_lifetime,
        .expires_at = now + app->settings->refresh_token_lifetime * MS_PER_S,
    };
    uuid_format(uuid_new(), pair.access_id);
    random_secret(secret, sizeof(secret));
    base64_write(BASE64_URL, secret, sizeof(secret), pair.refresh);
    token_hash(str_make(pair.refresh, sizeof(pair.refresh)), pair.refresh_hash);
    explicit_bzero(secret, sizeof(secret));
    return pair;
}

struct token_pair token_pair_new(const struct app *app)
{
    struct token_pair pair = token_pair_next(app);
    uuid_format(uuid_new(), pair.session);
    return pair;
}

struct str token_pair_sign(const struct app *app, struct arena *arena, const struct token_pair *pair,
                           const struct account *account)
{
    int64_t now = pair->now / MS_PER_S;
    return jwt_sign(arena, app->keys->access,
                    &(struct jwt_claims){
                        .issuer = app->keys->issuer,
                        .audience = app->keys->audience,
                        .subject = str_from(account->id),
                        .token_id = str_make(pair->access_id, UUID_TEXT),
                        .family = str_make(pair->session, UUID_TEXT),
                        .role = account->role,
                        .issued_at = now,
                        .not_before = now,
                        .expires_at = pair->access_expires_at,
                    });
}
