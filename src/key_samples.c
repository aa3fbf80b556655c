#include "key_samples.h"

enum {
    SAMPLES = 20,
    SEALED_MIN = 42, /* "$1$" and base64 of nonce, one byte and tag; what is shorter was stored in the open */
};

static bool has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

/* The distinct fronts "$7$": a number has at most 9 digits. */
static struct rows *select_fronts(struct tx *tx, const char *table, const char *column)
{
    const char *place_of = tx_is_postgres(tx) ? "strpos" : "instr";
    struct statement *fronts = ARENA_NEW(tx_arena(tx), struct statement);
    fronts->sql = arena_format(tx_arena(tx),
                               "SELECT DISTINCT substr(%s, 1, 1 + %s(substr(%s, 2, 10), '$')) AS front FROM %s "
                               "WHERE %s LIKE '$%%$%%' AND length(%s) >= %d",
                               column, place_of, column, table, column, column, SEALED_MIN)
                      .ptr;
    return tx_query(tx, fronts, DB_NO_PARAMS);
}

size_t key_samples_numbers(struct tx *tx, const char *service, uint32_t numbers[KEY_SAMPLES_NUMBERS_MAX])
{
    size_t count = 0;
    for (const struct pii_table *table = pii_tables; table < pii_tables + pii_table_count; table++) {
        for (size_t i = 0; strcmp(table->service, service) == 0 && i < PII_COLUMNS_MAX && table->columns[i]; i++) {
            struct rows *rows = select_fronts(tx, table->table, table->columns[i]);
            while (rows_next(rows)) {
                uint32_t number = pii_key_of(row_text(rows, "front"));
                if (number && count < KEY_SAMPLES_NUMBERS_MAX && !has_number(numbers, count, number))
                    numbers[count++] = number;
            }
        }
    }
    return count;
}

/* "12/somebody" */
static struct str row_id(struct tx *tx, struct rows *rows, const struct pii_table *table)
{
    struct str id = STR("");
    for (size_t i = 0; i < PII_ROW_KEYS_MAX && table->row[i].name; i++) {
        const char *name = table->row[i].name;
        struct str part = table->row[i].is_number ? arena_format(tx_arena(tx), "%lld", (long long)row_int(rows, name))
                                                  : row_text(rows, name);
        id = ARENA_JOIN(tx_arena(tx), id, i ? STR("/") : STR(""), part);
    }
    return id;
}

/* The first rows whose column has the key: the row's id, the value, and its hash where there is one. */
static struct rows *select_samples(struct tx *tx, const struct pii_table *table, size_t column, uint32_t number)
{
    const char *name = table->columns[column], *hash = table->hashes[column], *second = table->row[1].name;
    struct statement *samples = ARENA_NEW(tx_arena(tx), struct statement);
    samples->sql = arena_format(tx_arena(tx),
                                "SELECT %s%s%s, %s AS value, %s AS hash FROM %s WHERE %s LIKE '$%u$%%' "
                                "AND length(%s) >= %d LIMIT %d",
                                table->row[0].name, second ? ", " : "", second ? second : "", name, hash ? hash : "''",
                                table->table, name, number, name, SEALED_MIN, SAMPLES)
                       .ptr;
    return tx_query(tx, samples, DB_NO_PARAMS);
}

static void try_column(struct tx *tx, const struct pii *pii, const struct pii_table *table, size_t column,
                       uint32_t number, struct key_trial *trial)
{
    const char *name = table->columns[column];
    struct rows *rows = select_samples(tx, table, column, number);
    while (rows_next(rows)) {
        struct pii_place place = {.table = table->table, .column = name, .row = row_id(tx, rows, table)};
        struct str plain, hash = row_text(rows, "hash");
        trial->values++;
        if (!pii_decrypt(pii, tx_arena(tx), place, row_text(rows, "value"), &plain))
            continue;
        trial->opened++;
        trial->hashes += hash.len > 0;
        trial->same += hash.len > 0 && str_eq(pii_hash(pii, tx_arena(tx), name, plain), hash);
    }
}

struct key_trial key_samples_try(struct tx *tx, const char *service, const struct pii *pii, uint32_t number)
{
    struct key_trial trial = {0};
    for (const struct pii_table *table = pii_tables; table < pii_tables + pii_table_count; table++)
        for (size_t i = 0; strcmp(table->service, service) == 0 && i < PII_COLUMNS_MAX && table->columns[i]; i++)
            try_column(tx, pii, table, i, number, &trial);
    return trial;
}
