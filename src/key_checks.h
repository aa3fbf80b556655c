/*
 * Are these the keys that a service's database was sealed with? It has a check value of every key that is in use
 * (key_checks). A key that is given for the first time must open what has its number already, from a version without
 * checks, and is recorded. A recorded one that is not given any more is forgotten, unless something is sealed with it.
 *
 * Units of work; they log which key is wrong, and what to do.
 */
#ifndef KEY_CHECKS_H
#define KEY_CHECKS_H

#include "key_samples.h"

enum { KEY_CHECKS_MAX = 64 };

struct key_checks {
    const char *service;
    const struct pii *pii; /* the keys that are given; not needed by key_checks_read */

    struct pii_key recorded[KEY_CHECKS_MAX];
    size_t recorded_count;
    uint32_t used[KEY_SAMPLES_NUMBERS_MAX]; /* numbers in front of values; read when the records do not settle it */
    size_t used_count;
};

/* What the database knows: nothing (both counts 0) of one that is new. */
bool key_checks_read(struct tx *tx, void *checks);
/* Compares that with the keys that are given; changes nothing. False when they do not fit. */
bool key_checks_compare(struct tx *tx, void *checks);
/* Afterwards: whether key_checks_record has something to do. */
bool key_checks_differ(const struct key_checks *checks);
/* Writes; false when another server has recorded other keys meanwhile. */
bool key_checks_record(struct tx *tx, void *checks);

#endif
