#include "gateway/jwt.h"

#include "base/base64.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "gateway/mac.h"

enum { PAYLOAD_MAX = JWT_MAX_BYTES / 4 * 3 };

static const int64_t LATEST_TIME = 253402300799; /* the end of the year 9999: sums with it cannot overflow */

static const struct str HEADER = STR_INIT("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"); /* {"alg":"HS256","typ":"JWT"} */

static const struct str role_names[] = {
    [ROLE_ANONYMOUS] = STR_INIT(""),
    [ROLE_USER] = STR_INIT("USER"),
    [ROLE_STAFF] = STR_INIT("STAFF"),
    [ROLE_ADMIN] = STR_INIT("ADMIN"),
};

struct str role_name(enum role role)
{
    return role_names[role];
}

bool role_from(struct str name, enum role *role)
{
    for (enum role i = ROLE_USER; i <= ROLE_ADMIN; i++)
        if (str_eq(name, role_names[i])) {
            *role = i;
            return true;
        }
    return false;
}

/* Signing. */

static void add_text(struct json_writer *json, const char *name, struct str value)
{
    if (value.len)
        json_member_string(json, name, value);
}

static void add_time(struct json_writer *json, const char *name, int64_t seconds)
{
    if (seconds)
        json_member_int(json, name, seconds);
}

static void write_payload(struct buf *out, const struct jwt_claims *claims)
{
    struct json_writer json = json_write_to(out);
    json_begin_object(&json);
    add_text(&json, "iss", claims->issuer);
    add_text(&json, "aud", claims->audience);
    add_text(&json, "sub", claims->subject);
    add_text(&json, "jti", claims->token_id);
    add_text(&json, "fam", claims->family);
    add_text(&json, "uid", claims->user_id);
    add_text(&json, "role", role_name(claims->role));
    add_time(&json, "iat", claims->issued_at);
    add_time(&json, "nbf", claims->not_before);
    add_time(&json, "exp", claims->expires_at);
    json_end_object(&json);
}

struct str jwt_sign(struct arena *arena, struct str key, const struct jwt_claims *claims)
{
    struct buf payload = BUF_INIT(PAYLOAD_MAX);
    uint8_t mac[MAC_SIZE];
    write_payload(&payload, claims);
    if (key.len < JWT_KEY_MIN || payload.failed) {
        buf_free(&payload);
        return (struct str){NULL, 0};
    }
    size_t signed_length = HEADER.len + 1 + base64_length(BASE64_URL, payload.len);
    size_t length = signed_length + 1 + base64_length(BASE64_URL, MAC_SIZE);
    char *token = arena_bytes(arena, length);
    memcpy(token, HEADER.ptr, HEADER.len);
    token[HEADER.len] = '.';
    base64_write(BASE64_URL, payload.data, payload.len, token + HEADER.len + 1);
    mac_compute(key, str_make(token, signed_length), mac);
    token[signed_length] = '.';
    base64_write(BASE64_URL, mac, MAC_SIZE, token + signed_length + 1);
    buf_free(&payload);
    return str_make(token, length);
}

/* Reading. */

struct parts {
    struct str header, payload, signature;
    struct str signed_text; /* header.payload */
};

static bool split_token(struct str token, struct parts *parts)
{
    struct str rest = token;
    if (token.len > JWT_MAX_BYTES || !str_split(&rest, '.', &parts->header) ||
        !str_split(&rest, '.', &parts->payload) || !rest.ptr)
        return false;
    parts->signature = rest;
    parts->signed_text = str_first(token, parts->header.len + 1 + parts->payload.len);
    return parts->header.len && parts->payload.len && str_find_char(rest, '.') < 0;
}

static bool decode(struct arena *arena, struct str text, struct str *out)
{
    char *bytes = arena_bytes(arena, base64_room(text.len) + 1);
    size_t size;
    if (!base64_read(BASE64_URL, text, bytes, &size))
        return false;
    *out = str_make(bytes, size);
    return true;
}

struct header {
    struct str algorithm, type;
    struct json_strings critical;
    bool has_critical;
};
static const struct json_field header_fields[] = {
    JSON_FIELD(struct header, algorithm, "alg", .required = true, .max = 16),
    JSON_FIELD(struct header, type, "typ", .max = 16),
    JSON_FIELD(struct header, critical, "crit", .max = 64, .max_items = 16,
               .present = JSON_PRESENT(struct header, has_critical)),
};
static const struct json_descriptor header_descriptor = JSON_DESCRIPTOR(struct header, header_fields);

/* Only our own algorithm, whatever the token would like to be checked with. */
static bool header_is_ours(struct arena *arena, struct str text)
{
    struct header header = {0};
    struct json_problem problem;
    struct str json;
    if (str_eq(text, HEADER))
        return true;
    return decode(arena, text, &json) && json_read(json, &header_descriptor, &header, arena, &problem) &&
           str_eq(header.algorithm, STR("HS256")) && (!header.type.ptr || str_eq(header.type, STR("JWT"))) &&
           !header.has_critical;
}

static bool signature_is_right(struct arena *arena, const struct parts *parts, struct str key)
{
    uint8_t mac[MAC_SIZE];
    struct str signature;
    if (key.len < JWT_KEY_MIN || !decode(arena, parts->signature, &signature) || signature.len != MAC_SIZE)
        return false;
    mac_compute(key, parts->signed_text, mac);
    return str_eq_secret(signature, str_make((const char *)mac, MAC_SIZE));
}

struct payload {
    struct jwt_claims claims;
    struct str role;
};
static const struct json_field payload_fields[] = {
    JSON_FIELD(struct payload, claims.issuer, "iss", .max = 256),
    JSON_FIELD(struct payload, claims.audience, "aud", .max = 256),
    JSON_FIELD(struct payload, claims.subject, "sub", .required = true, .min = 1, .max = 128),
    JSON_FIELD(struct payload, claims.token_id, "jti", .max = 64),
    JSON_FIELD(struct payload, claims.family, "fam", .max = 64),
    JSON_FIELD(struct payload, claims.user_id, "uid", .max = 128),
    JSON_FIELD(struct payload, role, "role", .max = 16),
    JSON_FIELD(struct payload, claims.issued_at, "iat", .max = LATEST_TIME),
    JSON_FIELD(struct payload, claims.not_before, "nbf", .max = LATEST_TIME),
    JSON_FIELD(struct payload, claims.expires_at, "exp", .required = true, .max = LATEST_TIME),
};
static const struct json_descriptor payload_descriptor = JSON_DESCRIPTOR(struct payload, payload_fields);

static bool read_payload(struct arena *arena, struct str text, struct jwt_claims *claims)
{
    struct payload payload = {0};
    struct json_problem problem;
    struct str json;
    if (!decode(arena, text, &json) || !json_read(json, &payload_descriptor, &payload, arena, &problem) ||
        (payload.role.ptr && !role_from(payload.role, &payload.claims.role)))
        return false;
    *claims = payload.claims;
    return true;
}

/* The signature comes before everything that it covers: what nobody vouches for is not even read. */
enum jwt_outcome jwt_verify(struct arena *arena, struct str token, struct str key, struct str issuer,
                            struct str audience, int64_t now, struct jwt_claims *claims)
{
    struct parts parts;
    if (!split_token(token, &parts) || !header_is_ours(arena, parts.header))
        return JWT_MALFORMED;
    if (!signature_is_right(arena, &parts, key))
        return JWT_FORGED;
    if (!read_payload(arena, parts.payload, claims))
        return JWT_MALFORMED;
    if (!str_eq(claims->issuer, issuer) || !str_eq(claims->audience, audience))
        return JWT_STRANGE;
    if (claims->not_before > now + JWT_LEEWAY_S)
        return JWT_EARLY;
    return claims->expires_at > now ? JWT_OK : JWT_EXPIRED;
}
