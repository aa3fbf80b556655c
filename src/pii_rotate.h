/*
 * Seals personal data anew with the first key: what was sealed with other keys, and what an earlier version stored in
 * the open. Goes through a table page by page in the order of its row ids and writes only rows that nobody changed
 * since they were read; so it is safe beside running servers, and may be stopped and started again at any time.
 *
 * From a task; one table at a time.
 */
#ifndef PII_ROTATE_H
#define PII_ROTATE_H

#include "db/db.h"
#include "pii/pii.h"
#include "pii/tables.h"

enum { CENSUS_KEYS_MAX = 32 };

/* How many values of a column there are, by key. */
struct census {
    struct {
        uint32_t key; /* 0: not sealed */
        int64_t values;
    } by_key[CENSUS_KEYS_MAX];
    size_t keys;
    int64_t unreadable; /* of them: unknown key, damaged, from another place, or not sealed where that must not be */
};

struct pii_rotation {
    /* set by the caller */
    struct db *db;
    const struct pii *pii;
    const struct pii_table *table;
    /* Called after every page; may be NULL. */
    void (*progress)(const struct pii_rotation *rotation);

    /* while it runs, and when it has */
    int pass;
    int64_t rows, rows_expected; /* of this pass */
    int64_t written;             /* rows, of all passes */
    struct census before[PII_COLUMNS_MAX], after[PII_COLUMNS_MAX];
};

enum pii_rotate_outcome {
    PII_ROTATED,    /* every readable value has the first key */
    PII_UNSETTLED,  /* values with other keys keep appearing: some server does not have this key first */
    PII_NO_DATABASE /* it does not answer; what is done is done */
};

__attribute__((warn_unused_result)) enum pii_rotate_outcome pii_rotate(struct pii_rotation *rotation);

#endif
