/*
 * AES-256-GCM and HMAC-SHA256 with their keys set up once. One thread at a time may use a key; pii.c sees to that.
 * Nettle and not OpenSSL: for a name or a phone, what OpenSSL does around its cipher takes several times as long as the
 * cipher.
 */
#ifndef PII_CIPHER_H
#define PII_CIPHER_H

#include "base/str.h"

#include <nettle/gcm.h>
#include <nettle/hmac.h>

enum { CIPHER_NONCE = 12, CIPHER_TAG = 16, HASH_BYTES = 32 };

struct cipher {
    struct gcm_aes256_ctx gcm;
};

void cipher_set_key(struct cipher *cipher, const uint8_t key[32]);

/* A value is sealed together with what it is bound to. `out` has room for the plain text and the tag behind it. */
void cipher_seal(struct cipher *cipher, const uint8_t nonce[CIPHER_NONCE], struct str binding, struct str plain,
                 uint8_t *out);
/* `sealed` is ciphertext and tag; `out` has room for the former. False: not sealed with this key, nonce and binding. */
__attribute__((warn_unused_result)) bool cipher_open(struct cipher *cipher, const uint8_t nonce[CIPHER_NONCE],
                                                     struct str binding, struct str sealed, uint8_t *out);

struct hash {
    struct hmac_sha256_ctx hmac;
};

void hash_set_key(struct hash *hash, const uint8_t *key, size_t size);
void hash_run(struct hash *hash, struct str first, struct str second, uint8_t out[HASH_BYTES]);

#endif
