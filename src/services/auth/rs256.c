#include "services/auth/rs256.h"

#include "base/base64.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

enum { NUMBER_MAX = 1024 }; /* 8192 bits */

/* struct rs256_key is OpenSSL's EVP_PKEY under a name that says what it is for. */
static EVP_PKEY *pkey(struct rs256_key *key)
{
    return (EVP_PKEY *)key;
}

static BIGNUM *read_number(struct str text)
{
    unsigned char bytes[NUMBER_MAX];
    size_t size;
    if (base64_room(text.len) > sizeof(bytes) || !base64_read(BASE64_URL, text, bytes, &size))
        return NULL;
    return BN_bin2bn(bytes, (int)size, NULL);
}

static EVP_PKEY *build(BIGNUM *modulus, BIGNUM *exponent)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *params = NULL;
    if (context && builder && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) &&
        (params = OSSL_PARAM_BLD_to_param(builder)) && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    return key;
}

struct rs256_key *rs256_key_create(struct str modulus, struct str exponent)
{
    BIGNUM *n = read_number(modulus), *e = read_number(exponent);
    bool usable = n && e && BN_num_bits(n) >= RS256_MIN_BITS && BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e);
    EVP_PKEY *key = usable ? build(n, e) : NULL;
    BN_free(n);
    BN_free(e);
    return (struct rs256_key *)key;
}

struct rs256_key *rs256_key_share(struct rs256_key *key)
{
    EVP_PKEY_up_ref(pkey(key));
    return key;
}

void rs256_key_free(struct rs256_key *key)
{
    EVP_PKEY_free(pkey(key));
}

bool rs256_verify(struct rs256_key *key, struct str text, struct str signature)
{
    unsigned char bytes[NUMBER_MAX];
    size_t size;
    if (base64_room(signature.len) > sizeof(bytes) || !base64_read(BASE64_URL, signature, bytes, &size))
        return false;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, pkey(key)) == 1 &&
                EVP_DigestVerify(context, bytes, size, (const unsigned char *)text.ptr, text.len) == 1;
    EVP_MD_CTX_free(context);
    return good;
}
