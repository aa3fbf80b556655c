#include "services/auth/google.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/json_read.h"
#include "base/random.h"
#include "services/auth/account.h"
#include "services/auth/tokens.h"

#include <stdlib.h>

enum { SKEW_S = 300, LIFETIME_MAX_S = 86400, SUBJECT_MAX = 255, TEXT_MAX = 2048, SECRET_BYTES = 32 };

struct google {
    struct str client_id;
    struct jwks *jwks; /* NULL: off */
};

struct google *google_create(struct str client_id, struct str jwks_url)
{
    struct google *google = calloc(1, sizeof(*google));
    if (!google || client_id.len == 0)
        return google;
    google->client_id = client_id;
    google->jwks = jwks_create(jwks_url);
    if (!google->jwks) {
        google_destroy(google);
        return NULL;
    }
    return google;
}

void google_destroy(struct google *google)
{
    if (google->jwks)
        jwks_destroy(google->jwks);
    free(google);
}

void google_close_loop(struct google *google)
{
    if (google->jwks)
        jwks_close_loop(google->jwks);
}

bool google_is_on(const struct google *google)
{
    return google->jwks != NULL;
}

/* The question. */

void google_ask(char secret[GOOGLE_SECRET_TEXT], char nonce[GOOGLE_NONCE_TEXT])
{
    uint8_t bytes[SECRET_BYTES];
    random_secret(bytes, sizeof(bytes));
    base64_write(BASE64_URL, bytes, sizeof(bytes), secret);
    token_hash(str_make(secret, GOOGLE_SECRET_TEXT), nonce);
}

static bool answers(struct str nonce, struct str secret)
{
    char asked[GOOGLE_NONCE_TEXT];
    if (!nonce.ptr || secret.len != GOOGLE_SECRET_TEXT)
        return false;
    token_hash(secret, asked);
    return str_eq_secret(nonce, str_make(asked, sizeof(asked)));
}

/* The three parts of the token. */

struct token_head {
    struct str alg, kid;
    struct json_strings critical;
    bool has_critical;
};
static const struct json_field head_fields[] = {
    JSON_FIELD(struct token_head, alg, "alg", .required = true, .max = 16),
    JSON_FIELD(struct token_head, kid, "kid", .required = true, .min = 1, .max = 128),
    JSON_FIELD(struct token_head, critical, "crit", .max = 64, .max_items = 16,
               .present = JSON_PRESENT(struct token_head, has_critical)),
};
static const struct json_descriptor head_descriptor = JSON_DESCRIPTOR(struct token_head, head_fields);

struct token_claims {
    struct str issuer, audience, subject, email, name, nonce;
    int64_t issued_at, expires_at, not_before;
    bool email_verified;
};
static const struct json_field claims_fields[] = {
    JSON_FIELD(struct token_claims, issuer, "iss", .required = true, .max = 64),
    JSON_FIELD(struct token_claims, audience, "aud", .required = true, .max = 256),
    JSON_FIELD(struct token_claims, subject, "sub", .required = true, .min = 1, .max = SUBJECT_MAX),
    JSON_FIELD(struct token_claims, email, "email", .required = true, .max = EMAIL_MAX),
    JSON_FIELD(struct token_claims, email_verified, "email_verified", .required = true),
    JSON_FIELD(struct token_claims, name, "name", .max = TEXT_MAX),
    JSON_FIELD(struct token_claims, nonce, "nonce", .max = TEXT_MAX),
    JSON_FIELD(struct token_claims, issued_at, "iat", .required = true, .min = 1, .max = INT64_C(1) << 53),
    JSON_FIELD(struct token_claims, expires_at, "exp", .required = true, .min = 1, .max = INT64_C(1) << 53),
    JSON_FIELD(struct token_claims, not_before, "nbf", .min = 0, .max = INT64_C(1) << 53),
};
static const struct json_descriptor claims_descriptor = JSON_DESCRIPTOR(struct token_claims, claims_fields);

static bool read_part(struct arena *arena, struct str part, const struct json_descriptor *descriptor, void *out)
{
    struct json_problem problem;
    char *bytes = arena_bytes(arena, base64_room(part.len) + 1);
    size_t size;
    return base64_read(BASE64_URL, part, bytes, &size) &&
           json_read(str_make(bytes, size), descriptor, out, arena, &problem);
}

/* RS256 and nothing else; and nothing that we would have to understand. */
static bool read_head(struct arena *arena, struct str part, struct token_head *head)
{
    *head = (struct token_head){0};
    return read_part(arena, part, &head_descriptor, head) && str_eq(head->alg, STR("RS256")) && !head->has_critical;
}

static bool claims_hold(const struct google *google, const struct token_claims *claims)
{
    int64_t now = clock_wall_ms() / MS_PER_S;
    bool by_google = str_eq(claims->issuer, STR("accounts.google.com")) ||
                     str_eq(claims->issuer, STR("https://accounts.google.com"));
    bool in_time = claims->expires_at > now - SKEW_S && claims->issued_at < now + SKEW_S &&
                   claims->not_before < now + SKEW_S && claims->expires_at - claims->issued_at <= LIFETIME_MAX_S;
    return by_google && in_time && str_eq(claims->audience, google->client_id) && claims->email_verified;
}

/* A name of at most so many bytes, whole characters, on one line; the e-mail's beginning where there is none. */
static struct str name_of(const struct token_claims *claims)
{
    struct str name = str_trim(claims->name), email = claims->email, local = email;
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == 0x7f)
            name.len = 0;
    if (name.len == 0) {
        str_split(&email, '@', &local);
        return local;
    }
    name = str_first(name, ACCOUNT_NAME_MAX);
    while (!str_is_utf8(name))
        name.len--;
    return name;
}

static bool read_person(const struct google *google, struct arena *arena, struct str part, struct str secret,
                        struct google_person *person)
{
    struct token_claims claims = {0};
    if (!read_part(arena, part, &claims_descriptor, &claims) || !claims_hold(google, &claims) ||
        !answers(claims.nonce, secret) || !email_normalize(arena, claims.email, &person->email))
        return false;
    person->subject = claims.subject;
    person->name = name_of(&claims);
    return true;
}

enum google_outcome google_verify(struct google *google, struct arena *arena, struct str credential, struct str secret,
                                  struct google_person *person)
{
    struct str rest = credential, head_part, claims_part;
    struct token_head head;
    struct rs256_key *key;
    if (!google->jwks)
        return GOOGLE_OFF;
    if (!str_split(&rest, '.', &head_part) || !str_split(&rest, '.', &claims_part) || !rest.ptr ||
        !read_head(arena, head_part, &head))
        return GOOGLE_INVALID;
    switch (jwks_find(google->jwks, head.kid, &key)) {
    case JWKS_FOUND: break;
    case JWKS_UNKNOWN: return GOOGLE_INVALID;
    case JWKS_UNAVAILABLE: return GOOGLE_UNAVAILABLE;
    }
    struct str signed_part = str_first(credential, head_part.len + 1 + claims_part.len);
    bool genuine = rs256_verify(key, signed_part, rest);
    rs256_key_free(key);
    return genuine && read_person(google, arena, claims_part, secret, person) ? GOOGLE_OK : GOOGLE_INVALID;
}
