/* The pair of tokens of session.h: made, signed, hashed. */
#include "services/auth/tokens.h"
#include "base/base64.h"
#include "base/clock.h"
#include "base/random.h"
#include "gateway/jwt.h"
#include "gateway/keys.h"
#include "gateway/mac.h"
#include "services/app.h"
#include "services/auth/session.h"

#include <assert.h>
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

static struct token_pair pair_with(const struct app *app, uint8_t secret[REFRESH_BYTES])
{
    int64_t now = clock_wall_ms();
    struct token_pair pair = {
        .now = now,
        .access_expires_at = now / MS_PER_S + app->settings->access_token_lifetime,
        .expires_at = now + app->settings->refresh_token_lifetime * MS_PER_S,
    };
    uuid_format(uuid_new(), pair.access_id);
    base64_write(BASE64_URL, secret, REFRESH_BYTES, pair.refresh);
    token_hash(str_make(pair.refresh, sizeof(pair.refresh)), pair.refresh_hash);
    explicit_bzero(secret, REFRESH_BYTES);
    return pair;
}

struct token_pair token_pair_new(const struct app *app)
{
    uint8_t secret[REFRESH_BYTES];
    random_secret(secret, sizeof(secret));
    struct token_pair pair = pair_with(app, secret);
    uuid_format(uuid_new(), pair.session);
    return pair;
}

/* The key signs access tokens, too; none of them begins like this, so neither can be taken for the other. From the
 * token itself and not from its hash: whoever has a copy of the database and of the key still cannot follow. */
struct token_pair token_pair_after(const struct app *app, struct str used)
{
    static const char label[] = "the refresh token after ";
    char text[sizeof(label) - 1 + REFRESH_TEXT];
    uint8_t secret[MAC_SIZE];
    _Static_assert((int)REFRESH_BYTES == (int)MAC_SIZE, "a token is as long as the sum");
    assert(used.len == REFRESH_TEXT);
    memcpy(text, label, sizeof(label) - 1);
    memcpy(text + sizeof(label) - 1, used.ptr, REFRESH_TEXT);
    mac_compute(app->keys->access, str_make(text, sizeof(text)), secret);
    explicit_bzero(text, sizeof(text));
    return pair_with(app, secret);
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
