/*
 * AES-256-GCM and HMAC-SHA256 with their keys set up once: a context is expensive to make and cheap to use again. A
 * context serves one thread at a time; pii.c hands them out. Freeing one wipes its key.
 */
#ifndef PII_CIPHER_H
#define PII_CIPHER_H

#include "base/str.h"

#include <openssl/evp.h>

enum { CIPHER_NONCE = 12, CIPHER_TAG = 16, HASH_BYTES = 32 };

/* The algorithms, looked up once. */
struct algorithms {
    EVP_CIPHER *gcm;
    EVP_MAC *hmac;
};
__attribute__((warn_unused_result)) bool algorithms_fetch(struct algorithms *algorithms);
void algorithms_free(struct algorithms *algorithms);

/* NULL when there is no memory. A context either seals or opens. */
EVP_CIPHER_CTX *cipher_create(const struct algorithms *algorithms, const uint8_t key[32], bool seals);
EVP_MAC_CTX *hash_create(const struct algorithms *algorithms, const uint8_t *key, size_t size);

/* A value is sealed together with what it is bound to. `out` has room for the plain text and the tag behind it. */
__attribute__((warn_unused_result)) bool cipher_seal(EVP_CIPHER_CTX *context, const uint8_t nonce[CIPHER_NONCE],
                                                     struct str binding, struct str plain, uint8_t *out);
/* `sealed` is ciphertext and tag; `out` has room for the former. False: not sealed with this key, nonce and binding. */
__attribute__((warn_unused_result)) bool cipher_open(EVP_CIPHER_CTX *context, const uint8_t nonce[CIPHER_NONCE],
                                                     struct str binding, struct str sealed, uint8_t *out);

__attribute__((warn_unused_result)) bool hash_run(EVP_MAC_CTX *context, struct str first, struct str second,
                                                  uint8_t out[HASH_BYTES]);

#endif
