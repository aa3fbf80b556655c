/*
 * Personal data at rest: AES-256-GCM with a random nonce and the key's number in front, bound to its table, column and
 * row so that a value copied elsewhere does not decrypt; and keyed hashes (HMAC-SHA256, another key) to search by.
 *
 * A sealed value is text: "$2$" and base64url of nonce, ciphertext and tag; 2 is the number of its key. Values are
 * sealed with the first key of the settings and opened with any of them, so keys can be changed while servers run
 * (`tickettock pii rotate`).
 *
 * Any thread, but for pii_open and pii_close, which belong to the main thread; it closes when no other uses it any
 * more.
 */
#ifndef PII_PII_H
#define PII_PII_H

#include "base/arena.h"
#include "base/str.h"

struct pii;

struct pii_settings {
    struct str keys;       /* PII_KEYS: "2:base64,1:base64" */
    struct str hash_key;   /* PII_HASH_KEY: base64 */
    const char *directory; /* where those that are not set are made once; NULL: they must be set */
    bool are_in_use;       /* something is sealed with them already: they are read and never made */
};

enum { PII_CHECK_SIZE = 23, PII_KEYS_MAX = 16 };

/* A key, without showing it. */
struct pii_key {
    uint32_t number;            /* 0: the hash key */
    char check[PII_CHECK_SIZE]; /* tells two keys apart, and nothing about either */
};

/* Adds a line for everything that is wrong with the keys, without showing them. Not set is not wrong. */
__attribute__((warn_unused_result)) bool pii_check_keys(struct str keys, struct str hash_key, struct buf *problems);

/* NULL after logging why. */
struct pii *pii_open(const struct pii_settings *settings);
/* Wipes the keys. */
void pii_close(struct pii *pii);

/* All of them, the hash key last; returns how many. */
size_t pii_list_keys(const struct pii *pii, struct pii_key out[PII_KEYS_MAX + 1]);

/* Where a value stands. */
struct pii_place {
    const char *table, *column;
    struct str row; /* the row's id */
};

/* As text (printable) for a text column. An empty value stays empty, and one without bytes (ptr NULL) stays so. */
struct str pii_encrypt(const struct pii *pii, struct arena *arena, struct pii_place place, struct str plain);

/* False: unknown key, damaged, or from another place. */
__attribute__((warn_unused_result)) bool pii_decrypt(const struct pii *pii, struct arena *arena, struct pii_place place,
                                                     struct str sealed, struct str *plain);

/* For a search column; the caller normalizes (lower case e-mail, digits of a phone). As text. */
struct str pii_hash(const struct pii *pii, struct arena *arena, const char *column, struct str normalized);

/* A key for another purpose, named by its label, as text: the same on every server with the same hash key. It tells
 * nothing about the hash key or about keys of other labels. */
struct str pii_derived_key(const struct pii *pii, struct arena *arena, const char *label);

/* The number of the key that a stored value was sealed with; 0 when it is not sealed at all. */
uint32_t pii_key_of(struct str stored);
/* The number of the key that seals. */
uint32_t pii_first_key(const struct pii *pii);

#endif
