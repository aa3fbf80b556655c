/* Signatures of RSA keys: genuine ones are believed, and nothing else is. */
#include "services/auth/rs256.h"

#include "base/arena.h"
#include "base/base64.h"
#include "test.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

static struct arena arena;

static struct str encode(const void *bytes, size_t size)
{
    size_t length = base64_length(BASE64_URL, size);
    char *text = arena_bytes(&arena, length);
    base64_write(BASE64_URL, bytes, size, text);
    return str_make(text, length);
}

static struct str number_of(EVP_PKEY *key, const char *name)
{
    unsigned char bytes[1024];
    BIGNUM *number = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &number), 1);
    int size = BN_bn2bin(number, bytes);
    BN_free(number);
    return encode(bytes, (size_t)size);
}

static struct rs256_key *public_half(EVP_PKEY *key)
{
    return rs256_key_create(number_of(key, OSSL_PKEY_PARAM_RSA_N), number_of(key, OSSL_PKEY_PARAM_RSA_E));
}

static struct str sign(EVP_PKEY *key, const EVP_MD *digest, struct str text)
{
    unsigned char bytes[1024];
    size_t size = sizeof(bytes);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(context, NULL, digest, NULL, key), 1);
    assert_int_equal(EVP_DigestSign(context, bytes, &size, (const unsigned char *)text.ptr, text.len), 1);
    EVP_MD_CTX_free(context);
    return encode(bytes, size);
}

static void test_signatures(void **state)
{
    (void)state;
    EVP_PKEY *ours = EVP_RSA_gen(2048), *theirs = EVP_RSA_gen(2048);
    struct rs256_key *key = public_half(ours);
    struct str text = STR("head.claims"), good = sign(ours, EVP_sha256(), text);
    assert_non_null(key);
    assert_true(rs256_verify(key, text, good));
    assert_false(rs256_verify(key, STR("head.claimz"), good));
    assert_false(rs256_verify(key, text, sign(theirs, EVP_sha256(), text)));
    assert_false(rs256_verify(key, text, sign(ours, EVP_sha512(), text)));
    assert_false(rs256_verify(key, text, str_first(good, good.len - 4)));
    assert_false(rs256_verify(key, text, STR("")));
    assert_false(rs256_verify(key, text, STR("!!!!")));
    for (size_t i = 0; i < good.len; i += 37) { /* a character changed anywhere */
        char *changed = arena_bytes(&arena, good.len);
        memcpy(changed, good.ptr, good.len);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        assert_false(rs256_verify(key, text, str_make(changed, good.len)));
    }

    struct rs256_key *second_owner = rs256_key_share(key);
    rs256_key_free(key);
    assert_true(rs256_verify(second_owner, text, good));
    rs256_key_free(second_owner);
    EVP_PKEY_free(ours);
    EVP_PKEY_free(theirs);
}

static void test_keys(void **state)
{
    (void)state;
    EVP_PKEY *small = EVP_RSA_gen(1024), *large = EVP_RSA_gen(2048);
    struct str n = number_of(large, OSSL_PKEY_PARAM_RSA_N), e = number_of(large, OSSL_PKEY_PARAM_RSA_E);
    assert_null(public_half(small));
    assert_null(rs256_key_create(STR(""), e));
    assert_null(rs256_key_create(n, STR("")));
    assert_null(rs256_key_create(n, STR("AQ"))); /* an exponent of 1 signs nothing */
    assert_null(rs256_key_create(STR("not base64!"), e));
    char *endless = arena_bytes(&arena, 4000);
    memset(endless, 'A', 4000);
    assert_null(rs256_key_create(str_make(endless, 4000), e));
    EVP_PKEY_free(small);
    EVP_PKEY_free(large);
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signatures),
        cmocka_unit_test(test_keys),
    };
    return cmocka_run_group_tests_name("rs256", tests, set_up, tear_down);
}
