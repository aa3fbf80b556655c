/*
 * What stored values tell about the keys that they were sealed with. In a unit of work; a column that has none of what
 * is looked for is read to its end, so this is not for every start.
 */
#ifndef KEY_SAMPLES_H
#define KEY_SAMPLES_H

#include "db/db.h"
#include "pii/pii.h"
#include "pii/tables.h"

enum { KEY_SAMPLES_NUMBERS_MAX = 64 };

/* The numbers of the keys that values of the service were sealed with; returns how many. */
size_t key_samples_numbers(struct tx *tx, const char *service, uint32_t numbers[KEY_SAMPLES_NUMBERS_MAX]);

struct key_trial {
    int values, opened; /* one that is damaged makes no key wrong: some should open, or there are none */
    int hashes, same;   /* of those that opened and have their hash beside them */
};

/* Tries the key of `pii` with this number, and the hash key, on the first values of each column that have the number.
 */
struct key_trial key_samples_try(struct tx *tx, const char *service, const struct pii *pii, uint32_t number);

#endif
