/* What the two migrators share; private to src/db. */
#ifndef DB_MIGRATE_INTERNAL_H
#define DB_MIGRATE_INTERNAL_H

#include "db/migrate.h"

/* PostgreSQL: any number that nobody else is likely to use. One migrator at a time in a database, and none while it is
 * copied. */
#define MIGRATION_LOCK "7164953180423967001"

enum { MIGRATION_HASH = 65 }; /* SHA-256 in hexadecimal, and a NUL */

void migration_hash(struct str sql, char out[MIGRATION_HASH]);

/* The service's first migration in this dialect, or the next one after `after`; NULL at the end. */
const struct migration *migration_next(const struct migration *all, const char *service, const char *dialect,
                                       const struct migration *after);

/*
 * Compares the history, row by row in order, with what we have:
 *     struct migration_check check = {all, service, dialect, NULL};
 *     … for each row: if (!migration_check_row(&check, number, hash)) it has changed (logged) …
 *     … the first to be applied: migration_next(all, service, dialect, check.last) …
 */
struct migration_check {
    const struct migration *all;
    const char *service, *dialect;
    const struct migration *last; /* the newest that is applied */
};
bool migration_check_row(struct migration_check *check, int64_t number, struct str hash);

void migration_log_applied(const struct migration *migration);
void migration_log_failed(const struct migration *migration, const char *reason);

#endif
