/*
 * Tokens that we make are believed, and nothing else is. A forgery is a text that somebody without the key could send,
 * or a token that is signed well but says something wrong; each row says which outcome it must meet.
 */
#include "base/base64.h"
#include "gateway/jwt.h"
#include "test.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>

#define KEY "0123456789abcdef0123456789abcdef"
#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"
#define CLAIMS "\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"jti\":\"1\",\"role\":\"USER\""
#define PAYLOAD "{" CLAIMS ",\"exp\":2000}"

enum { NOW = 1000 };

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 24);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static struct str encode(struct str bytes)
{
    size_t length = base64_length(BASE64_URL, bytes.len);
    char *out = arena_bytes(&arena, length + 1);
    base64_write(BASE64_URL, bytes.ptr, bytes.len, out);
    return str_make(out, length);
}

/* A signature by another way than the one that is tested. */
static struct str sign(struct str text, struct str key, const EVP_MD *digest)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned length;
    HMAC(digest, key.ptr, (int)key.len, (const unsigned char *)text.ptr, text.len, mac, &length);
    return encode(str_make((const char *)mac, length));
}

static struct str join(struct str header, struct str payload, struct str signature)
{
    return arena_format(&arena, "%.*s.%.*s.%.*s", STR_ARG(header), STR_ARG(payload), STR_ARG(signature));
}

/* Signed with our key, whatever it says. */
static struct str make(struct str header, struct str payload)
{
    struct str h = encode(header), p = encode(payload);
    return join(h, p, sign(arena_format(&arena, "%.*s.%.*s", STR_ARG(h), STR_ARG(p)), STR(KEY), EVP_sha256()));
}

static enum jwt_outcome verify(struct str token)
{
    struct jwt_claims claims;
    return jwt_verify(&arena, token, STR(KEY), STR("us"), STR("you"), NOW, &claims);
}

static const char *const names[] = {
    [JWT_OK] = "ok",           [JWT_MALFORMED] = "malformed", [JWT_FORGED] = "forged",
    [JWT_EXPIRED] = "expired", [JWT_EARLY] = "early",         [JWT_STRANGE] = "strange",
};

static void expect(enum jwt_outcome expected, const char *what, struct str token)
{
    enum jwt_outcome outcome = verify(token);
    if (outcome != expected)
        fail_msg("%s: %s instead of %s", what, names[outcome], names[expected]);
}

static void test_round_trip(void **state)
{
    (void)state;
    const struct jwt_claims made = {.issuer = STR("us"),
                                    .audience = STR("you"),
                                    .subject = STR("앨리스 \"A\""),
                                    .token_id = STR("t"),
                                    .family = STR("f"),
                                    .user_id = STR("u"),
                                    .role = ROLE_STAFF,
                                    .issued_at = 900,
                                    .not_before = 901,
                                    .expires_at = 2000};
    struct jwt_claims read;
    struct str token = jwt_sign(&arena, STR(KEY), &made);
    assert_int_equal(jwt_verify(&arena, token, STR(KEY), STR("us"), STR("you"), NOW, &read), JWT_OK);
    assert_str_equal(read.issuer, made.issuer);
    assert_str_equal(read.audience, made.audience);
    assert_str_equal(read.subject, made.subject);
    assert_str_equal(read.token_id, made.token_id);
    assert_str_equal(read.family, made.family);
    assert_str_equal(read.user_id, made.user_id);
    assert_int_equal(read.role, made.role);
    assert_int_equal(read.issued_at, 900);
    assert_int_equal(read.not_before, 901);
    assert_int_equal(read.expires_at, 2000);
}

/* As other programs write them. */
static void test_others_read_ours_and_we_theirs(void **state)
{
    (void)state;
    expect(JWT_OK, "another order", make(STR("{\"typ\":\"JWT\", \"alg\":\"HS256\"}"), STR(PAYLOAD)));
    expect(JWT_OK, "no type", make(STR("{\"alg\":\"HS256\"}"), STR(PAYLOAD)));
    expect(JWT_OK, "more claims", make(STR(HEADER), STR("{" CLAIMS ",\"exp\":2000,\"tier\":[1,{}]}")));
    struct jwt_claims claims = {.issuer = STR("us"),
                                .audience = STR("you"),
                                .subject = STR("alice"),
                                .token_id = STR("1"),
                                .role = ROLE_USER,
                                .expires_at = 2000};
    assert_str_equal(jwt_sign(&arena, STR(KEY), &claims), make(STR(HEADER), STR(PAYLOAD)));
}

static void test_keys(void **state)
{
    (void)state;
    struct jwt_claims claims = {.subject = STR("alice"), .expires_at = 2000};
    assert_null(jwt_sign(&arena, str_first(STR(KEY), JWT_KEY_MIN - 1), &claims).ptr);
    assert_null(jwt_sign(&arena, STR(""), &claims).ptr);
    /* a server without a key believes nobody, also not one who has signed with nothing */
    struct str h = encode(STR(HEADER)), p = encode(STR("{\"sub\":\"alice\",\"exp\":2000}"));
    struct str text = arena_format(&arena, "%.*s.%.*s", STR_ARG(h), STR_ARG(p));
    struct str token = join(h, p, sign(text, STR(""), EVP_sha256()));
    assert_int_equal(jwt_verify(&arena, token, STR(""), STR(""), STR(""), NOW, &claims), JWT_FORGED);
    token = join(h, p, sign(text, STR("short"), EVP_sha256()));
    assert_int_equal(jwt_verify(&arena, token, STR("short"), STR(""), STR(""), NOW, &claims), JWT_FORGED);
}

/* What is wrong with the header, the payload being fine and the signature ours. */
static void test_headers(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{\"alg\":\"none\"}",
        "{\"alg\":\"None\"}",
        "{\"alg\":\"NONE\"}",
        "{\"alg\":\"nOnE\",\"typ\":\"JWT\"}",
        "{\"alg\":\"\"}",
        "{\"alg\":null}",
        "{\"alg\":\"HS384\"}",
        "{\"alg\":\"HS512\"}",
        "{\"alg\":\"RS256\"}",
        "{\"alg\":\"ES256\"}",
        "{\"alg\":\"PS256\"}",
        "{\"alg\":\"EdDSA\"}",
        "{\"alg\":\"hs256\"}",
        "{\"alg\":\"HS256 \"}",
        "{\"alg\":\"HS256\\u0000\"}",
        "{\"alg\":[\"HS256\"]}",
        "{\"alg\":256}",
        "{\"ALG\":\"HS256\"}",
        "{\"typ\":\"JWT\"}",
        "{}",
        "[]",
        "\"HS256\"",
        "null",
        "",
        "{",
        "HS256",
        "{\"alg\":\"none\",\"alg\":\"HS256\"}",
        "{\"alg\":\"HS256\",\"alg\":\"none\"}",
        "{\"alg\":\"HS256\",\"alg\":\"HS256\"}",
        "{\"alg\":\"HS256\",\"typ\":\"JWE\"}",
        "{\"alg\":\"HS256\",\"typ\":7}",
        "{\"alg\":\"HS256\",\"crit\":[\"exp\"]}",
        "{\"alg\":\"HS256\",\"crit\":[]}",
        "{\"alg\":\"HS256\",\"crit\":\"b64\"}",
        "{\"alg\":\"HS256\",\"b64\":false,\"crit\":[\"b64\"]}",
        "{\"alg\":\"HS256\"} ,",
        "{\"alg\":\"HS256\"}{}",
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        expect(JWT_MALFORMED, headers[i], make(str_from(headers[i]), STR(PAYLOAD)));
    expect(JWT_MALFORMED, "NUL", make(STR("{\"alg\":\"HS256\"}\0"), STR(PAYLOAD)));
    expect(JWT_MALFORMED, "not UTF-8", make(STR("{\"alg\":\"HS256\",\"x\":\"\xff\"}"), STR(PAYLOAD)));
}

/* What is wrong with the payload, though the key's owner has signed it. */
static void test_payloads(void **state)
{
    (void)state;
    static const struct {
        const char *payload;
        enum jwt_outcome outcome;
    } rows[] = {
        {PAYLOAD, JWT_OK},
        {"{" CLAIMS ",\"exp\":1001}", JWT_OK},
        {"{" CLAIMS ",\"exp\":1000}", JWT_EXPIRED},
        {"{" CLAIMS ",\"exp\":999}", JWT_EXPIRED},
        {"{" CLAIMS ",\"exp\":0}", JWT_EXPIRED},
        {"{" CLAIMS ",\"exp\":-1}", JWT_MALFORMED},
        {"{" CLAIMS "}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":null}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":\"2000\"}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":true}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":[2000]}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":9223372036854775807}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":9223372036854775808}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":18446744073709552616}", JWT_MALFORMED}, /* 1000 more than what 64 bits hold */
        {"{" CLAIMS ",\"exp\":1e99}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":2000.5}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":02000}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":999,\"exp\":2000}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":2000,\"nbf\":1005}", JWT_OK}, /* a clock that is a little ahead */
        {"{" CLAIMS ",\"exp\":2000,\"nbf\":1006}", JWT_EARLY},
        {"{" CLAIMS ",\"exp\":2000,\"nbf\":\"0\"}", JWT_MALFORMED},
        {"{" CLAIMS ",\"exp\":2000,\"nbf\":9223372036854775807}", JWT_MALFORMED},
        {"{\"iss\":\"them\",\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"US\",\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"us \",\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"\",\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"us\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"us\",\"aud\":\"them\",\"sub\":\"alice\",\"exp\":2000}", JWT_STRANGE},
        {"{\"iss\":\"us\",\"aud\":[\"you\"],\"sub\":\"alice\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":[\"them\",\"you\"],\"sub\":\"alice\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":[\"us\"],\"aud\":\"you\",\"sub\":\"alice\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":7,\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"a\\u0000b\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"sub\":\"root\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"\\u0073ub\":\"root\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"role\":\"ROOT\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"role\":\"admin\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"role\":\"\",\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"alice\",\"role\":[\"ADMIN\"],\"exp\":2000}", JWT_MALFORMED},
        {"{\"iss\":\"us\",\"aud\":\"you\",\"sub\":\"\\ud800\",\"exp\":2000}", JWT_MALFORMED},
        {PAYLOAD "x", JWT_MALFORMED},
        {"[" PAYLOAD "]", JWT_MALFORMED},
        {"\"alice\"", JWT_MALFORMED},
        {"null", JWT_MALFORMED},
        {"{", JWT_MALFORMED},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(rows[i].outcome, rows[i].payload, make(STR(HEADER), str_from(rows[i].payload)));
    expect(JWT_MALFORMED, "NUL", make(STR(HEADER), STR(PAYLOAD "\0")));
    expect(JWT_MALFORMED, "not UTF-8", make(STR(HEADER), STR("{" CLAIMS ",\"exp\":2000,\"x\":\"\xc0\x80\"}")));
}

/* What somebody without the key can do to a good token. */
static void test_signatures(void **state)
{
    (void)state;
    struct str h = encode(STR(HEADER)), p = encode(STR(PAYLOAD)), good = make(STR(HEADER), STR(PAYLOAD));
    struct str text = str_first(good, h.len + 1 + p.len), s = str_from_offset(good, text.len + 1);
    struct str other = encode(STR("{" CLAIMS ",\"exp\":2001}"));
    expect(JWT_OK, "the good one", good);
    expect(JWT_FORGED, "no signature", join(h, p, STR("")));
    expect(JWT_FORGED, "half a signature", join(h, p, str_first(s, s.len / 2)));
    expect(JWT_FORGED, "a signature without its last byte", join(h, p, str_first(s, 42)));
    expect(JWT_FORGED, "a longer signature", join(h, p, arena_format(&arena, "%.*sAAAA", STR_ARG(s))));
    expect(JWT_FORGED, "zeros", join(h, p, encode(str_make(arena_alloc(&arena, 32), 32))));
    expect(JWT_FORGED, "another payload", join(h, other, s));
    expect(JWT_FORGED, "another key", join(h, p, sign(text, STR("another key of thirty-two bytes!"), EVP_sha256())));
    expect(JWT_FORGED, "the key cut short", join(h, p, sign(text, str_first(STR(KEY), 31), EVP_sha256())));
    expect(JWT_FORGED, "no key", join(h, p, sign(text, STR(""), EVP_sha256())));
    expect(JWT_FORGED, "HS384 under an HS256 header", join(h, p, sign(text, STR(KEY), EVP_sha384())));
    expect(JWT_FORGED, "HS512 under an HS256 header", join(h, p, sign(text, STR(KEY), EVP_sha512())));
    expect(JWT_FORGED, "the payload as signature", join(h, p, p));
    expect(JWT_FORGED, "hex", join(h, p, STR("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")));
    expect(JWT_MALFORMED, "alg none, no signature", join(encode(STR("{\"alg\":\"none\"}")), p, STR("")));

    expect(JWT_FORGED, "padding", join(h, p, arena_format(&arena, "%.*s=", STR_ARG(s))));
    expect(JWT_FORGED, "a blank behind", arena_format(&arena, "%.*s ", STR_ARG(good)));
    expect(JWT_FORGED, "a line end behind", arena_format(&arena, "%.*s\n", STR_ARG(good)));
    expect(JWT_MALFORMED, "a blank before", arena_format(&arena, " %.*s", STR_ARG(good)));
    expect(JWT_MALFORMED, "a dot behind", arena_format(&arena, "%.*s.", STR_ARG(good)));
    expect(JWT_MALFORMED, "a dot before", arena_format(&arena, ".%.*s", STR_ARG(good)));
    expect(JWT_MALFORMED, "five parts, as encrypted ones have", arena_format(&arena, "%.*s.a.b", STR_ARG(good)));
    expect(JWT_MALFORMED, "two parts", text);
    expect(JWT_MALFORMED, "one part", h);
    expect(JWT_MALFORMED, "nothing", STR(""));
    expect(JWT_MALFORMED, "no text at all", (struct str){NULL, 0});
    expect(JWT_MALFORMED, "dots", STR(".."));
    expect(JWT_MALFORMED, "no payload", join(h, STR(""), s));
    expect(JWT_MALFORMED, "a NUL", STR("\0.\0.\0"));
    expect(JWT_MALFORMED, "as JSON", STR("{\"protected\":\"\",\"payload\":\"\",\"signature\":\"\"}"));
}

/* A signature has one spelling: the last character of 32 bytes carries two bits that must be 0. */
static void test_one_spelling(void **state)
{
    (void)state;
    struct str good = make(STR(HEADER), STR(PAYLOAD));
    int accepted = 0;
    for (int c = 1; c < 128; c++) {
        char *copy = arena_bytes(&arena, good.len);
        memcpy(copy, good.ptr, good.len);
        copy[good.len - 1] = (char)c;
        accepted += verify(str_make(copy, good.len)) == JWT_OK;
    }
    assert_int_equal(accepted, 1);
}

/* Every single bit counts. */
static void test_every_bit(void **state)
{
    (void)state;
    struct str good = make(STR(HEADER), STR(PAYLOAD));
    char *copy = arena_bytes(&arena, good.len);
    for (size_t bit = 0; bit < good.len * 8; bit++) {
        memcpy(copy, good.ptr, good.len);
        copy[bit / 8] = (char)(copy[bit / 8] ^ (1 << bit % 8));
        assert_int_not_equal(verify(str_make(copy, good.len)), JWT_OK);
    }
    for (size_t length = 0; length < good.len; length++)
        assert_int_not_equal(verify(str_first(good, length)), JWT_OK);
}

static void test_size(void **state)
{
    (void)state;
    char *large = arena_bytes(&arena, 1 << 20);
    memset(large, 'a', 1 << 20);
    expect(JWT_MALFORMED, "a megabyte", str_make(large, 1 << 20));
    memset(large, '.', 1 << 20);
    expect(JWT_MALFORMED, "a megabyte of dots", str_make(large, 1 << 20));
    struct str padding = arena_format(&arena, "{" CLAIMS ",\"exp\":2000,\"x\":\"%4000d\"}", 1);
    expect(JWT_MALFORMED, "signed, but huge", make(STR(HEADER), padding));
    struct jwt_claims claims = {.subject = str_make(large, JWT_MAX_BYTES), .expires_at = 2000};
    assert_null(jwt_sign(&arena, STR(KEY), &claims).ptr);
}

static void test_roles(void **state)
{
    (void)state;
    enum role role;
    for (enum role i = ROLE_USER; i <= ROLE_ADMIN; i++) {
        assert_true(role_from(role_name(i), &role));
        assert_int_equal(role, i);
    }
    assert_false(role_from(STR(""), &role));
    assert_false(role_from(STR("user"), &role));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_others_read_ours_and_we_theirs),
        cmocka_unit_test(test_keys),         cmocka_unit_test(test_headers),
        cmocka_unit_test(test_payloads),     cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_one_spelling), cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_size),         cmocka_unit_test(test_roles),
    };
    return cmocka_run_group_tests_name("jwt", tests, set_up, tear_down);
}
