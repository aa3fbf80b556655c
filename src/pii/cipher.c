#include "pii/cipher.h"

#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/params.h>

bool algorithms_fetch(struct algorithms *algorithms)
{
    algorithms->gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    algorithms->hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    return algorithms->gcm && algorithms->hmac;
}

void algorithms_free(struct algorithms *algorithms)
{
    EVP_CIPHER_free(algorithms->gcm);
    EVP_MAC_free(algorithms->hmac);
}

EVP_CIPHER_CTX *cipher_create(const struct algorithms *algorithms, const uint8_t key[32], bool seals)
{
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context && EVP_CipherInit_ex2(context, algorithms->gcm, key, NULL, seals, NULL) == 1)
        return context;
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

EVP_MAC_CTX *hash_create(const struct algorithms *algorithms, const uint8_t *key, size_t size)
{
    char digest[] = "SHA256";
    OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                           OSSL_PARAM_construct_end()};
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(algorithms->hmac);
    if (context && EVP_MAC_init(context, key, size, params) == 1)
        return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

/* The nonce, then what the value is bound to. */
static bool begin(EVP_CIPHER_CTX *context, const uint8_t *nonce, struct str binding)
{
    int length;
    return binding.len <= INT_MAX && EVP_CipherInit_ex2(context, NULL, NULL, nonce, -1, NULL) == 1 &&
           (binding.len == 0 ||
            EVP_CipherUpdate(context, NULL, &length, (const uint8_t *)binding.ptr, (int)binding.len) == 1);
}

bool cipher_seal(EVP_CIPHER_CTX *context, const uint8_t nonce[CIPHER_NONCE], struct str binding, struct str plain,
                 uint8_t *out)
{
    int length = 0, rest;
    return plain.len <= INT_MAX && begin(context, nonce, binding) &&
           (plain.len == 0 ||
            EVP_CipherUpdate(context, out, &length, (const uint8_t *)plain.ptr, (int)plain.len) == 1) &&
           EVP_CipherFinal_ex(context, out + length, &rest) == 1 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, CIPHER_TAG, out + plain.len) == 1;
}

bool cipher_open(EVP_CIPHER_CTX *context, const uint8_t nonce[CIPHER_NONCE], struct str binding, struct str sealed,
                 uint8_t *out)
{
    if (sealed.len < CIPHER_TAG || sealed.len > INT_MAX)
        return false;
    int size = (int)sealed.len - CIPHER_TAG, length = 0, rest;
    uint8_t tag[CIPHER_TAG];
    memcpy(tag, sealed.ptr + size, sizeof(tag));
    return begin(context, nonce, binding) &&
           (size == 0 || EVP_CipherUpdate(context, out, &length, (const uint8_t *)sealed.ptr, size) == 1) &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, CIPHER_TAG, tag) == 1 &&
           EVP_CipherFinal_ex(context, out + length, &rest) == 1;
}

bool hash_run(EVP_MAC_CTX *context, struct str first, struct str second, uint8_t out[HASH_BYTES])
{
    size_t length;
    return EVP_MAC_init(context, NULL, 0, NULL) == 1 &&
           EVP_MAC_update(context, (const uint8_t *)first.ptr, first.len) == 1 &&
           EVP_MAC_update(context, (const uint8_t *)second.ptr, second.len) == 1 &&
           EVP_MAC_final(context, out, &length, HASH_BYTES) == 1 && length == HASH_BYTES;
}
