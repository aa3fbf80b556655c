/* Every column with personal data, of all services: what `tickettock pii rotate` goes through. */
#ifndef PII_TABLES_H
#define PII_TABLES_H

#include <stdbool.h>
#include <stddef.h>

enum { PII_COLUMNS_MAX = 4, PII_ROW_KEYS_MAX = 2 };

struct pii_table {
    const char *service, *table;
    const char *columns[PII_COLUMNS_MAX]; /* the unused ones NULL */
    const char *hashes[PII_COLUMNS_MAX];  /* beside each column, the one with its keyed hash; NULL: none */
    /* Columns of an unique index; their values with '/' between are the row's id, to which the values are bound. */
    struct {
        const char *name;
        bool is_number; /* else a text, never empty */
    } row[PII_ROW_KEYS_MAX];
    bool was_plain; /* earlier versions stored these columns as they came */
};

extern const struct pii_table pii_tables[];
extern const size_t pii_table_count;

#endif
