/*
 * One connection to an SQLite file, used by one thread: prepared statements, rows,
 * and SQLite's results as outcomes. Private to the SQLite adapter.
 */
#ifndef DB_SQLITE_CONNECTION_H
#define DB_SQLITE_CONNECTION_H

#include "db/adapter.h"
#include "db/statement_cache.h"

#include <sqlite3.h>

enum sqlite_control {
    CONTROL_BEGIN_READ,
    CONTROL_BEGIN_WRITE,
    CONTROL_COMMIT,
    CONTROL_ROLLBACK,
    CONTROL_SAVEPOINT,
    CONTROL_RELEASE,
    CONTROL_ROLLBACK_TO,
    CONTROLS
};

struct sqlite_connection {
    struct tx tx; /* first */
    sqlite3 *handle;
    sqlite3_stmt *controls[CONTROLS];
    struct statement_cache cache;

    /* The rows under way. */
    struct sqlite_statement *current;
    bool current_is_cached;
    bool row_is_ready; /* stepped to, not yet handed out */

    int64_t timeout_ns, statement_ends_ns;
};

/* Before any other use of SQLite; further calls do nothing. */
void sqlite_library_prepare(void);

/* Before the file is opened for writing: it and its log are their owner's only. SQLite gives a new log the rights of
 * the file. False with errno when there is no file and none can be made. */
bool sqlite_files_keep_private(const char *path);

/* False with a logged reason. The writer also switches the file to WAL. */
bool sqlite_connection_open(struct sqlite_connection *connection, const char *path, bool writer,
                            const struct db_adapter *adapter, int64_t timeout_ms);
/* The writer of a process beside the one that owns the file: two that write back the log can lose a commit, so this one
 * never does; and what it overwrites it overwrites with zeros. */
bool sqlite_connection_be_guest(struct sqlite_connection *connection);
void sqlite_connection_close(struct sqlite_connection *connection);

/* BEGIN, COMMIT and the like; SQLite's extended result. */
int sqlite_connection_control(struct sqlite_connection *connection, enum sqlite_control control);

enum db_outcome sqlite_outcome(int result, bool read_only);

/* The adapter's functions for a running unit. */
bool sqlite_execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                    enum tx_purpose purpose);
bool sqlite_next_row(struct tx *tx);
void sqlite_end_rows(struct tx *tx);
size_t sqlite_columns(const struct tx *tx);
const char *sqlite_column_name_of(const struct tx *tx, size_t column);
struct db_value sqlite_cell(struct tx *tx, size_t column);

/* sqlite_constraint.c: the name PostgreSQL would give, out of SQLite's message; empty when there is none.
 * The statement that failed has been reset. */
enum { SQLITE_CONSTRAINT_NAME = 64 };
void sqlite_constraint_name(sqlite3 *handle, int result, const char *message, char name[SQLITE_CONSTRAINT_NAME]);

#endif
