/*
 * Tokens. The input is a token as a stranger may send it; and, split at its first newline, a header and a payload that
 * the key's owner signs. For every input
 *   - a token that is believed is signed with the key, by OpenSSL's word and not by ours,
 *   - what it says is in bounds,
 *   - one more byte behind it, or one less, and it is not believed any more,
 *   - claims that were read are the same when they are signed and read again.
 */
#include "base/base64.h"
#include "gateway/jwt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KEY "0123456789abcdef0123456789abcdef"
enum { NOW = 1000 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static struct str encode(struct arena *arena, struct str bytes)
{
    size_t length = base64_length(BASE64_URL, bytes.len);
    char *out = arena_bytes(arena, length + 1);
    base64_write(BASE64_URL, bytes.ptr, bytes.len, out);
    return str_make(out, length);
}

static struct str signature_of(struct arena *arena, struct str text)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned length;
    HMAC(EVP_sha256(), KEY, sizeof(KEY) - 1, (const unsigned char *)text.ptr, text.len, mac, &length);
    return encode(arena, str_make((const char *)mac, length));
}

static bool believes(struct arena *arena, struct str token, struct jwt_claims *claims)
{
    return jwt_verify(arena, token, STR(KEY), STR("us"), STR("you"), NOW, claims) == JWT_OK;
}

static void check_signed(struct arena *arena, struct str token)
{
    size_t end = token.len;
    while (end && token.ptr[end - 1] != '.')
        end--;
    expect(end > 0 && str_eq(str_from_offset(token, end), signature_of(arena, str_first(token, end - 1))));
}

static void check_again(struct arena *arena, const struct jwt_claims *claims)
{
    struct jwt_claims again;
    struct str token = jwt_sign(arena, STR(KEY), claims);
    expect(token.ptr && believes(arena, token, &again));
    expect(str_eq(claims->subject, again.subject) && str_eq(claims->token_id, again.token_id) &&
           str_eq(claims->user_id, again.user_id) && claims->role == again.role &&
           claims->expires_at == again.expires_at);
}

static void check_token(struct arena *arena, struct str token)
{
    struct jwt_claims claims;
    if (!believes(arena, token, &claims))
        return;
    check_signed(arena, token);
    expect(claims.expires_at > NOW && claims.subject.len > 0 && claims.subject.len <= 128);
    expect(str_is_utf8(claims.subject) && str_find_char(claims.subject, '\0') < 0);
    check_again(arena, &claims);
    expect(!believes(arena, str_first(token, token.len - 1), &claims));
    expect(!believes(arena, arena_format(arena, "%.*sA", STR_ARG(token)), &claims));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct str input = str_make((const char *)data, size), payload = input, header;
    arena_init(&arena, 1 << 24);
    check_token(&arena, input);
    if (str_split(&payload, '\n', &header) && payload.ptr) {
        struct str h = encode(&arena, header), p = encode(&arena, payload);
        struct str text = arena_format(&arena, "%.*s.%.*s", STR_ARG(h), STR_ARG(p));
        struct str mac = signature_of(&arena, text);
        check_token(&arena, arena_format(&arena, "%.*s.%.*s", STR_ARG(text), STR_ARG(mac)));
    }
    arena_free(&arena);
    return 0;
}
