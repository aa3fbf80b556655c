#include "pii/pii.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/random.h"
#include "base/secret_file.h"
#include "pii/cipher.h"
#include "pii/keys.h"

#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A lane is a set of keys, set up, for one thread at a time. Each thread has a home lane, so as a rule it finds it
 * free. */
enum { LANES = 32, NONCES_AT_ONCE = 21, PROBLEMS_MAX_BYTES = 4096 };

struct lane {
    _Alignas(64) atomic_flag taken;
    struct cipher *ciphers; /* the first one seals */
    struct hash hash;
    uint8_t nonces[NONCES_AT_ONCE][CIPHER_NONCE]; /* from the kernel, many at once: a call for each would cost most */
    size_t nonces_left;
};

_Static_assert((int)PII_KEYS_MAX == (int)KEYS_MAX, "each can be listed");

struct pii {
    uint32_t key_ids[KEYS_MAX];
    size_t key_count;
    struct pii_key about[PII_KEYS_MAX + 1]; /* the hash key behind the others */
    char front[16];                         /* of what the first key seals: "$1$" */
    size_t front_length;
    struct lane *lanes;
};

static struct lane *lane_take(const struct pii *pii)
{
    static atomic_uint threads;
    static _Thread_local unsigned home; /* 0: none yet */
    if (home == 0)
        home = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % LANES + 1;
    for (unsigned i = home;; i++) {
        struct lane *lane = &pii->lanes[i % LANES];
        if (!atomic_flag_test_and_set_explicit(&lane->taken, memory_order_acquire))
            return lane;
        if (i % LANES == 0)
            sched_yield();
    }
}

static void lane_give_back(struct lane *lane)
{
    atomic_flag_clear_explicit(&lane->taken, memory_order_release);
}

static const uint8_t *lane_nonce(struct lane *lane)
{
    if (lane->nonces_left == 0) {
        random_secret(lane->nonces, sizeof(lane->nonces));
        lane->nonces_left = NONCES_AT_ONCE;
    }
    return lane->nonces[--lane->nonces_left];
}

static bool lane_open(struct lane *lane, const struct keys *keys)
{
    atomic_flag_clear(&lane->taken);
    hash_set_key(&lane->hash, keys->hash, sizeof(keys->hash));
    lane->ciphers = calloc(keys->count, sizeof(*lane->ciphers));
    for (size_t i = 0; lane->ciphers && i < keys->count; i++)
        cipher_set_key(&lane->ciphers[i], keys->sealing[i].bytes);
    return lane->ciphers != NULL;
}

static void lane_close(struct lane *lane, size_t key_count)
{
    if (lane->ciphers)
        explicit_bzero(lane->ciphers, key_count * sizeof(*lane->ciphers));
    free(lane->ciphers);
    explicit_bzero(&lane->hash, sizeof(lane->hash));
}

bool pii_check_keys(struct str keys, struct str hash_key, struct buf *problems)
{
    struct keys read;
    bool good = keys_read(keys, hash_key, &read, problems);
    keys_wipe(&read);
    return good;
}

/* A new key in the place of a lost one would make second accounts for everybody, and nobody would notice. */
static bool read_file(const struct pii_settings *settings, const char *name, const char *setting,
                      uint8_t secret[KEY_BYTES])
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", settings->directory, name);
    if (settings->are_in_use && access(path, F_OK) != 0) {
        log_error("a key is missing, and the database has data that was sealed with it. Put the file back from where "
                  "you keep a copy of the keys, or give the key in the setting; no new one is made beside old data",
                  LOG_C("file", path), LOG_C("setting", setting));
        return false;
    }
    return secret_file_read(settings->directory, name, secret);
}

/* What is not set is made once, where that is allowed. */
static bool complete_keys(const struct pii_settings *settings, struct keys *keys)
{
    const char *directory = settings->directory;
    if (!directory && keys->count && keys->has_hash)
        return true;
    if (!directory) {
        log_error(
            "PII_KEYS and PII_HASH_KEY must be set when DATABASE_URL is, the same on every server: personal data is "
            "stored encrypted. Make them once, with PII_KEYS=1:$(openssl rand -base64 32) and "
            "PII_HASH_KEY=$(openssl rand -base64 32), and keep them safe");
        return false;
    }
    if (keys->count == 0) {
        keys->sealing[0].id = 1;
        keys->count = 1;
        if (!read_file(settings, "pii.key", "PII_KEYS", keys->sealing[0].bytes))
            return false;
    }
    return keys->has_hash || read_file(settings, "pii-hash.key", "PII_HASH_KEY", keys->hash);
}

static bool get_keys(const struct pii_settings *settings, struct keys *keys)
{
    struct buf problems = BUF_INIT(PROBLEMS_MAX_BYTES);
    bool good = keys_read(settings->keys, settings->hash_key, keys, &problems);
    if (!good)
        log_error("the keys for personal data cannot be used", LOG_STR("reason", buf_str(&problems)));
    buf_free(&problems);
    return good && complete_keys(settings, keys);
}

/* 128 bits of an HMAC of a text that nothing else is hashed with: columns have no such name. */
static void fill_check(const uint8_t key[KEY_BYTES], struct pii_key *about)
{
    uint8_t check[HASH_BYTES];
    struct hash hash;
    hash_set_key(&hash, key, KEY_BYTES);
    hash_run(&hash, STR("tickettock: which key is this?"), STR(""), check);
    base64_write(BASE64_URL, check, 16, about->check);
    about->check[PII_CHECK_SIZE - 1] = '\0';
    explicit_bzero(&hash, sizeof(hash));
}

static void fill_abouts(struct pii *pii, const struct keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        pii->about[i].number = keys->sealing[i].id;
        fill_check(keys->sealing[i].bytes, &pii->about[i]);
    }
    fill_check(keys->hash, &pii->about[keys->count]);
}

static struct pii *create(const struct keys *keys)
{
    struct pii *pii = calloc(1, sizeof(*pii));
    struct lane *lanes = aligned_alloc(_Alignof(struct lane), LANES * sizeof(struct lane));
    if (!pii || !lanes) {
        free(pii);
        free(lanes);
        return NULL;
    }
    memset(lanes, 0, LANES * sizeof(struct lane));
    pii->lanes = lanes;
    pii->key_count = keys->count;
    fill_abouts(pii, keys);
    bool good = true;
    for (size_t i = 0; good && i < LANES; i++)
        good = lane_open(&lanes[i], keys);
    for (size_t i = 0; i < keys->count; i++)
        pii->key_ids[i] = keys->sealing[i].id;
    pii->front_length = (size_t)snprintf(pii->front, sizeof(pii->front), "$%u$", pii->key_ids[0]);
    if (good)
        return pii;
    log_error("there is no memory for the keys of personal data");
    pii_close(pii);
    return NULL;
}

struct pii *pii_open(const struct pii_settings *settings)
{
    struct keys keys;
    struct pii *pii = get_keys(settings, &keys) ? create(&keys) : NULL;
    keys_wipe(&keys);
    return pii;
}

void pii_close(struct pii *pii)
{
    for (size_t i = 0; i < LANES; i++)
        lane_close(&pii->lanes[i], pii->key_count);
    free(pii->lanes);
    free(pii);
}

/* Table and column end in NUL, which neither contains, so no two places make the same text. */
static struct str binding_of(struct arena *arena, struct pii_place place)
{
    return ARENA_JOIN(arena, str_make(place.table, strlen(place.table) + 1),
                      str_make(place.column, strlen(place.column) + 1), place.row);
}

struct str pii_encrypt(const struct pii *pii, struct arena *arena, struct pii_place place, struct str plain)
{
    if (plain.len == 0)
        return plain;
    size_t size = CIPHER_NONCE + plain.len + CIPHER_TAG;
    size_t length = pii->front_length + base64_length(BASE64_URL, size);
    char *text = arena_bytes(arena, length);
    uint8_t *bytes = (uint8_t *)arena_bytes(arena, size);
    struct str binding = binding_of(arena, place);
    struct lane *lane = lane_take(pii);
    memcpy(bytes, lane_nonce(lane), CIPHER_NONCE);
    cipher_seal(&lane->ciphers[0], bytes, binding, plain, bytes + CIPHER_NONCE);
    lane_give_back(lane);
    memcpy(text, pii->front, pii->front_length);
    base64_write(BASE64_URL, bytes, size, text + pii->front_length);
    return str_make(text, length);
}

/* "$2$…": the key's number, and what stands behind it. */
static bool split(struct str stored, uint32_t *key, struct str *rest)
{
    if (stored.len == 0 || stored.ptr[0] != '$')
        return false;
    struct str behind = str_from_offset(stored, 1);
    ptrdiff_t end = str_find_char(behind, '$');
    if (end < 0 || !key_id_read(str_first(behind, (size_t)end), key))
        return false;
    *rest = str_from_offset(behind, (size_t)end + 1);
    return true;
}

/* The key's place in the settings; key_count when it is not there. */
static size_t find_key(const struct pii *pii, uint32_t id)
{
    size_t place = 0;
    while (place < pii->key_count && pii->key_ids[place] != id)
        place++;
    return place;
}

bool pii_decrypt(const struct pii *pii, struct arena *arena, struct pii_place place, struct str sealed,
                 struct str *plain)
{
    uint32_t id;
    struct str text;
    if (sealed.len == 0) {
        *plain = sealed;
        return true;
    }
    size_t key = split(sealed, &id, &text) ? find_key(pii, id) : pii->key_count;
    if (key == pii->key_count)
        return false;
    size_t size;
    uint8_t *bytes = (uint8_t *)arena_bytes(arena, base64_room(text.len));
    if (!base64_read(BASE64_URL, text, bytes, &size) || size <= CIPHER_NONCE + CIPHER_TAG)
        return false;
    size_t length = size - CIPHER_NONCE - CIPHER_TAG;
    char *out = arena_bytes(arena, length);
    struct str binding = binding_of(arena, place);
    struct lane *lane = lane_take(pii);
    bool good = cipher_open(&lane->ciphers[key], bytes, binding,
                            str_make((char *)bytes + CIPHER_NONCE, size - CIPHER_NONCE), (uint8_t *)out);
    lane_give_back(lane);
    if (!good) {
        explicit_bzero(out, length); /* what came out before the tag was found wrong */
        return false;
    }
    *plain = str_make(out, length);
    return true;
}

struct str pii_hash(const struct pii *pii, struct arena *arena, const char *column, struct str normalized)
{
    uint8_t hash[HASH_BYTES];
    size_t length = base64_length(BASE64_URL, sizeof(hash));
    struct lane *lane = lane_take(pii);
    hash_run(&lane->hash, str_make(column, strlen(column) + 1), normalized, hash);
    lane_give_back(lane);
    char *text = arena_bytes(arena, length);
    base64_write(BASE64_URL, hash, sizeof(hash), text);
    return str_make(text, length);
}

struct str pii_derived_key(const struct pii *pii, struct arena *arena, const char *label)
{
    return pii_hash(pii, arena, "key derived for", str_from(label)); /* no column is called so */
}

uint32_t pii_key_of(struct str stored)
{
    uint32_t id;
    struct str rest;
    return split(stored, &id, &rest) ? id : 0;
}

size_t pii_list_keys(const struct pii *pii, struct pii_key out[PII_KEYS_MAX + 1])
{
    memcpy(out, pii->about, sizeof(pii->about));
    return pii->key_count + 1;
}

uint32_t pii_first_key(const struct pii *pii)
{
    return pii->key_ids[0];
}
