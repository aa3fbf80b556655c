#include "pii/cipher.h"

#include <nettle/memops.h>

void cipher_set_key(struct cipher *cipher, const uint8_t key[32])
{
    gcm_aes256_set_key(&cipher->gcm, key);
}

static void begin(struct cipher *cipher, const uint8_t *nonce, struct str binding)
{
    gcm_aes256_set_iv(&cipher->gcm, CIPHER_NONCE, nonce);
    gcm_aes256_update(&cipher->gcm, binding.len, (const uint8_t *)binding.ptr);
}

void cipher_seal(struct cipher *cipher, const uint8_t nonce[CIPHER_NONCE], struct str binding, struct str plain,
                 uint8_t *out)
{
    begin(cipher, nonce, binding);
    gcm_aes256_encrypt(&cipher->gcm, plain.len, out, (const uint8_t *)plain.ptr);
    gcm_aes256_digest(&cipher->gcm, CIPHER_TAG, out + plain.len);
}

bool cipher_open(struct cipher *cipher, const uint8_t nonce[CIPHER_NONCE], struct str binding, struct str sealed,
                 uint8_t *out)
{
    if (sealed.len < CIPHER_TAG)
        return false;
    size_t size = sealed.len - CIPHER_TAG;
    uint8_t tag[CIPHER_TAG];
    begin(cipher, nonce, binding);
    gcm_aes256_decrypt(&cipher->gcm, size, out, (const uint8_t *)sealed.ptr);
    gcm_aes256_digest(&cipher->gcm, CIPHER_TAG, tag);
    return memeql_sec(tag, sealed.ptr + size, CIPHER_TAG);
}

void hash_set_key(struct hash *hash, const uint8_t *key, size_t size)
{
    hmac_sha256_set_key(&hash->hmac, size, key);
}

void hash_run(struct hash *hash, struct str first, struct str second, uint8_t out[HASH_BYTES])
{
    hmac_sha256_update(&hash->hmac, first.len, (const uint8_t *)first.ptr);
    hmac_sha256_update(&hash->hmac, second.len, (const uint8_t *)second.ptr);
    hmac_sha256_digest(&hash->hmac, HASH_BYTES, out); /* and begins anew */
}
