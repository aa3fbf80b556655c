/*
 * Personal data at rest: AES-256-GCM with a random nonce and the key's number in front, bound to its table, column and
 * row so that a value copied elsewhere does not decrypt; and keyed hashes (HMAC-SHA256, another key) to search by.
 * Any thread.
 */
#ifndef PII_PII_H
#define PII_PII_H

#include "base/arena.h"
#include "base/str.h"

struct pii;

/* Where a value stands. */
struct pii_place {
    const char *table, *column;
    struct str row; /* the row's id */
};

/* As text (printable) for a text column. An empty value stays empty. */
struct str pii_encrypt(const struct pii *pii, struct arena *arena, struct pii_place place, struct str plain);

/* False: unknown key, damaged, or from another place. */
__attribute__((warn_unused_result)) bool pii_decrypt(const struct pii *pii, struct arena *arena, struct pii_place place,
                                                     struct str sealed, struct str *plain);

/* For a search column; the caller normalizes (lower case e-mail, digits of a phone). As text. */
struct str pii_hash(const struct pii *pii, struct arena *arena, const char *column, struct str normalized);

#endif
