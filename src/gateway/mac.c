#include "gateway/mac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEY_ROOM = 256 }; /* a longer key is given to OpenSSL each time */

/* A thread's own. */
struct keyed {
    EVP_MAC_CTX *context;
    size_t key_length;
    char key[KEY_ROOM]; /* that the context is for */
};

static EVP_MAC_CTX *keyless; /* looking the algorithm up costs OpenSSL more than the sum itself, so it is done once */
static pthread_key_t of_thread;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "tickettock: %s\n", why);
    abort();
}

static void free_keyed(void *argument)
{
    struct keyed *keyed = argument;
    EVP_MAC_CTX_free(keyed->context);
    explicit_bzero(keyed, sizeof(*keyed));
    free(keyed);
}

static void prepare(void)
{
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    EVP_MAC *mac = EVP_MAC_fetch(NULL, OSSL_MAC_NAME_HMAC, NULL);
    keyless = mac ? EVP_MAC_CTX_new(mac) : NULL;
    EVP_MAC_free(mac);
    if (!keyless || !EVP_MAC_CTX_set_params(keyless, parameters) || pthread_key_create(&of_thread, free_keyed) != 0)
        give_up("OpenSSL has no HMAC-SHA256");
}

static struct keyed *keyed_of_thread(void)
{
    pthread_once(&once, prepare);
    struct keyed *keyed = pthread_getspecific(of_thread);
    if (keyed)
        return keyed;
    keyed = calloc(1, sizeof(*keyed));
    if (!keyed || !(keyed->context = EVP_MAC_CTX_dup(keyless)) || pthread_setspecific(of_thread, keyed) != 0)
        give_up("no memory for an HMAC");
    return keyed;
}

/* Without a key OpenSSL begins again under the one that it has. */
static bool begin(struct keyed *keyed, struct str key)
{
    if (keyed->key_length && str_eq_secret(key, str_make(keyed->key, keyed->key_length)))
        return EVP_MAC_init(keyed->context, NULL, 0, NULL);
    keyed->key_length = 0;
    if (!EVP_MAC_init(keyed->context, (const unsigned char *)key.ptr, key.len, NULL))
        return false;
    if (key.len <= sizeof(keyed->key)) {
        memcpy(keyed->key, key.ptr, key.len);
        keyed->key_length = key.len;
    }
    return true;
}

void mac_compute(struct str key, struct str text, uint8_t out[MAC_SIZE])
{
    struct keyed *keyed = keyed_of_thread();
    size_t size = 0;
    if (!begin(keyed, key) || !EVP_MAC_update(keyed->context, (const unsigned char *)text.ptr, text.len) ||
        !EVP_MAC_final(keyed->context, out, &size, MAC_SIZE))
        give_up("OpenSSL could not compute an HMAC"); /* out of memory: no answer would be safe */
}
