#include "base/clock.h"
#include "base/log.h"
#include "db/folder_lock.h"
#include "db/migrate_internal.h"
#include "db/sqlite_connection.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { WAIT_MS = 10000 };

/* References are off while tables are rebuilt, and looked through before the commit. */
static const char settings[] = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;";
static const char history_table[] =
    "CREATE TABLE IF NOT EXISTS schema_migrations ("
    "number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL)";

static bool run(sqlite3 *handle, const char *sql)
{
    return sqlite3_exec(handle, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static enum migrate_outcome check_history(sqlite3 *handle, struct migration_check *check)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, "SELECT number, hash FROM schema_migrations ORDER BY number", -1, &statement,
                           NULL) != SQLITE_OK)
        return MIGRATE_FAILED;
    enum migrate_outcome outcome = MIGRATE_OK;
    int result = SQLITE_DONE;
    while (outcome == MIGRATE_OK && (result = sqlite3_step(statement)) == SQLITE_ROW)
        if (!migration_check_row(check, sqlite3_column_int64(statement, 0),
                                 str_from((const char *)sqlite3_column_text(statement, 1))))
            outcome = MIGRATE_CHANGED;
    sqlite3_finalize(statement);
    return outcome == MIGRATE_OK && result != SQLITE_DONE ? MIGRATE_FAILED : outcome;
}

static bool references_hold(sqlite3 *handle)
{
    sqlite3_stmt *statement;
    bool hold = sqlite3_prepare_v2(handle, "PRAGMA foreign_key_check", -1, &statement, NULL) == SQLITE_OK &&
                sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return hold;
}

static bool remember(sqlite3 *handle, const struct migration *migration)
{
    char hash[MIGRATION_HASH];
    migration_hash(migration->sql, hash);
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, "INSERT INTO schema_migrations VALUES (?1, ?2, ?3, ?4)", -1, &statement, NULL) !=
        SQLITE_OK)
        return false;
    sqlite3_bind_int(statement, 1, migration->number);
    sqlite3_bind_text(statement, 2, migration->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, hash, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 4, clock_wall_ms());
    sqlite3_step(statement);
    return sqlite3_finalize(statement) == SQLITE_OK;
}

static bool run_script(sqlite3 *handle, struct str sql)
{
    char *text = sqlite3_mprintf("%.*s", STR_ARG(sql));
    bool done = text && run(handle, text);
    sqlite3_free(text);
    return done;
}

/* NULL when it is done, else why not. */
static const char *apply_in_transaction(sqlite3 *handle, const struct migration *migration)
{
    if (!run(handle, "BEGIN IMMEDIATE") || !run_script(handle, migration->sql))
        return sqlite3_errmsg(handle);
    if (sqlite3_get_autocommit(handle))
        return "a migration must not end its transaction";
    if (!references_hold(handle))
        return "it leaves references to rows that do not exist";
    return remember(handle, migration) && run(handle, "COMMIT") ? NULL : sqlite3_errmsg(handle);
}

static enum migrate_outcome apply(sqlite3 *handle, const struct migration *migration)
{
    const char *reason = apply_in_transaction(handle, migration);
    if (!reason) {
        migration_log_applied(migration);
        return MIGRATE_OK;
    }
    migration_log_failed(migration, reason);
    if (!sqlite3_get_autocommit(handle))
        run(handle, "ROLLBACK");
    return MIGRATE_FAILED;
}

static enum migrate_outcome migrate(sqlite3 *handle, const struct migration *all, const char *service)
{
    struct migration_check check = {all, service, "sqlite", NULL};
    enum migrate_outcome outcome =
        run(handle, settings) && run(handle, history_table) ? check_history(handle, &check) : MIGRATE_FAILED;
    if (outcome == MIGRATE_FAILED)
        log_error("cannot read the history of migrations", LOG_C("service", service),
                  LOG_C("reason", sqlite3_errmsg(handle)));
    const struct migration *next = check.last;
    while (outcome == MIGRATE_OK && (next = migration_next(all, service, "sqlite", next)))
        outcome = apply(handle, next);
    return outcome;
}

/* The folder's lock keeps a second migrator waiting, and keeps us away from the file of a running server. */
enum migrate_outcome migrate_sqlite(const struct migration *all, const char *service, const char *directory)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s.db", directory, service) >= sizeof(path))
        return MIGRATE_UNAVAILABLE;
    int lock = folder_lock(directory, service, WAIT_MS);
    if (lock < 0)
        return MIGRATE_UNAVAILABLE;

    sqlite_library_prepare();
    sqlite3 *handle = NULL;
    enum migrate_outcome outcome = MIGRATE_UNAVAILABLE;
    if (sqlite_files_keep_private(path) &&
        sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(handle, WAIT_MS);
        outcome = migrate(handle, all, service);
    } else {
        log_error("cannot open the database file", LOG_C("path", path));
    }
    sqlite3_close(handle);
    close(lock);
    return outcome;
}
