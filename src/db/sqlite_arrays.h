/*
 * Arrays as rows for SQLite, which has none: the table-valued function unnest, called as PostgreSQL's is. A batch is
 * then one statement, and each of its rows costs a few calls instead of a statement's beginning and end.
 *
 *     INSERT INTO seats (id, owner) SELECT c1, c2 FROM unnest($1, $2)      -- DB_INTS(…), DB_TEXTS(…)
 *
 * Its columns are c1, c2 … in the order of the arrays, which must be equally long. Private to the SQLite adapter.
 */
#ifndef DB_SQLITE_ARRAYS_H
#define DB_SQLITE_ARRAYS_H

#include "db/db.h"

#include <sqlite3.h>

int sqlite_arrays_register(sqlite3 *handle);

/* Binds an array, which stays the caller's until the statement is reset. */
int sqlite_arrays_bind(sqlite3_stmt *statement, int place, const struct db_value *array);

#endif
