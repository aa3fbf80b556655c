#include "db/sqlite_connection.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/private_file.h"
#include "db/sqlite_arrays.h"
#include "db/sqlite_log_file.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUSY_TIMEOUT_MS = 500, STEPS_BETWEEN_LOOKS = 20000 };

/* $1 gets its place by first appearance in SQLite; `numbers` tells which parameter belongs to each place. */
struct sqlite_statement {
    sqlite3_stmt *handle;
    size_t places, params;
    unsigned char numbers[DB_MAX_PARAMS];
};

static const char *const control_text[CONTROLS] = {
    [CONTROL_BEGIN_READ] = "BEGIN",
    [CONTROL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [CONTROL_COMMIT] = "COMMIT",
    [CONTROL_ROLLBACK] = "ROLLBACK",
    [CONTROL_SAVEPOINT] = "SAVEPOINT unit",
    [CONTROL_RELEASE] = "RELEASE unit",
    [CONTROL_ROLLBACK_TO] = "ROLLBACK TO unit",
};

/* What a file needs for our promises: the log synced at each commit, references
 * checked, and one connection alone that writes and checkpoints (SQLite before
 * 3.51.3 can lose a commit when two checkpoint at once). */
/* A small cache for the writer: after deletions SQLite looks through all of it at each commit that had to sort pages,
 * and what is not in it is in the system's. */
static const char writer_settings[] = "PRAGMA journal_mode = WAL;"
                                      "PRAGMA synchronous = FULL;"
                                      "PRAGMA foreign_keys = ON;"
                                      "PRAGMA trusted_schema = OFF;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA journal_size_limit = 268435456;"
                                      "PRAGMA cache_size = -4096;";
static const char reader_settings[] = "PRAGMA query_only = ON;"
                                      "PRAGMA wal_autocheckpoint = 0;"
                                      "PRAGMA trusted_schema = OFF;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA cache_size = -8192;";

/* Keeping account of memory takes a lock for each allocation; nobody asks for the account. */
static void configure_library(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite_log_file_prepare();
}

void sqlite_library_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_library);
}

bool sqlite_files_keep_private(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    char name[PATH_MAX];
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        if ((size_t)snprintf(name, sizeof(name), "%s%s", path, suffixes[i]) < sizeof(name))
            private_file_tighten(name);
    return private_file_create(path);
}

static int statement_is_late(void *context)
{
    struct sqlite_connection *connection = context;
    return clock_mono_ns() > connection->statement_ends_ns;
}

static bool prepare_controls(struct sqlite_connection *connection)
{
    for (size_t i = 0; i < CONTROLS; i++)
        if (sqlite3_prepare_v3(connection->handle, control_text[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &connection->controls[i], NULL) != SQLITE_OK)
            return false;
    return true;
}

bool sqlite_connection_open(struct sqlite_connection *connection, const char *path, bool writer,
                            const struct db_adapter *adapter, int64_t timeout_ms)
{
    *connection = (struct sqlite_connection){.timeout_ns = timeout_ms * NS_PER_MS};
    tx_init(&connection->tx, adapter, !writer);
    sqlite_library_prepare();
    int flags = SQLITE_OPEN_NOMUTEX | (writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
    bool open = (!writer || sqlite_files_keep_private(path)) &&
                sqlite3_open_v2(path, &connection->handle, flags, writer ? sqlite_log_file_system : NULL) == SQLITE_OK;
    if (open) {
        sqlite3_extended_result_codes(connection->handle, 1);
        sqlite3_busy_timeout(connection->handle, BUSY_TIMEOUT_MS);
        sqlite3_db_config(connection->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !writer, NULL);
        open = sqlite3_exec(connection->handle, writer ? writer_settings : reader_settings, NULL, NULL, NULL) ==
                   SQLITE_OK &&
               sqlite_arrays_register(connection->handle) == SQLITE_OK && prepare_controls(connection);
    }
    if (!open) {
        log_error("cannot open the database file", LOG_C("path", path),
                  LOG_C("reason", connection->handle ? sqlite3_errmsg(connection->handle) : strerror(errno)));
        sqlite_connection_close(connection);
        return false;
    }
    connection->statement_ends_ns = INT64_MAX;
    sqlite3_progress_handler(connection->handle, STEPS_BETWEEN_LOOKS, statement_is_late, connection);
    return true;
}

bool sqlite_connection_be_guest(struct sqlite_connection *connection)
{
    return sqlite3_db_config(connection->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) == SQLITE_OK &&
           sqlite3_exec(connection->handle, "PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON;", NULL, NULL,
                        NULL) == SQLITE_OK;
}

static void release_statement(void *prepared)
{
    struct sqlite_statement *statement = prepared;
    sqlite3_finalize(statement->handle);
    free(statement);
}

void sqlite_connection_close(struct sqlite_connection *connection)
{
    statement_cache_clear(&connection->cache, release_statement);
    for (size_t i = 0; i < CONTROLS; i++)
        sqlite3_finalize(connection->controls[i]);
    sqlite3_close(connection->handle);
    connection->handle = NULL;
    tx_free(&connection->tx);
}

int sqlite_connection_control(struct sqlite_connection *connection, enum sqlite_control control)
{
    connection->statement_ends_ns = INT64_MAX;
    sqlite3_stmt *statement = connection->controls[control];
    sqlite3_step(statement);
    return sqlite3_reset(statement);
}

enum db_outcome sqlite_outcome(int result, bool read_only)
{
    switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return DB_OK;
    case SQLITE_CONSTRAINT: return DB_CONSTRAINT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT: return DB_BUSY;
    case SQLITE_READONLY: return read_only ? DB_ERROR : DB_UNAVAILABLE;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_NOMEM: return DB_UNAVAILABLE;
    default: return DB_ERROR;
    }
}

/* Drops the statement and takes what it said into the transaction's failure. */
static bool fail(struct sqlite_connection *connection, const char *text)
{
    char message[512], constraint[SQLITE_CONSTRAINT_NAME];
    int result = sqlite3_extended_errcode(connection->handle);
    sqlite3_snprintf(sizeof(message), message, "%s", sqlite3_errmsg(connection->handle));
    sqlite_end_rows(&connection->tx);

    enum db_outcome outcome = sqlite_outcome(result, connection->tx.read_only);
    constraint[0] = '\0';
    if (outcome == DB_CONSTRAINT)
        sqlite_constraint_name(connection->handle, result, message, constraint);
    else
        log_error("statement failed", LOG_C("reason", message), LOG_C("sql", text));
    tx_fail(&connection->tx, outcome == DB_OK ? DB_ERROR : outcome, constraint);
    return false;
}

static bool number_params(struct sqlite_statement *statement)
{
    statement->places = (size_t)sqlite3_bind_parameter_count(statement->handle);
    if (statement->places > DB_MAX_PARAMS)
        return false;
    for (size_t i = 0; i < statement->places; i++) {
        const char *name = sqlite3_bind_parameter_name(statement->handle, (int)i + 1);
        int64_t number;
        if (!name || name[0] != '$' || !str_to_int64(str_from(name + 1), &number) || number < 1 ||
            number > DB_MAX_PARAMS)
            return false;
        statement->numbers[i] = (unsigned char)number;
        if ((size_t)number > statement->params)
            statement->params = (size_t)number;
    }
    return true;
}

static struct sqlite_statement *prepare(struct sqlite_connection *connection, const char *text, bool keep)
{
    struct sqlite_statement *statement = calloc(1, sizeof(*statement));
    if (!statement) {
        tx_fail(&connection->tx, DB_UNAVAILABLE, NULL);
        return NULL;
    }
    const char *rest = "";
    unsigned flags = keep ? SQLITE_PREPARE_PERSISTENT : 0;
    if (sqlite3_prepare_v3(connection->handle, text, -1, flags, &statement->handle, &rest) != SQLITE_OK)
        fail(connection, text);
    else if (!statement->handle || rest[strspn(rest, " \t\n;")] || !number_params(statement)) {
        log_error("a statement must be one statement with parameters $1, $2 …", LOG_C("sql", text));
        tx_fail(&connection->tx, DB_ERROR, NULL);
    } else {
        return statement;
    }
    release_statement(statement);
    return NULL;
}

static bool make_current(struct sqlite_connection *connection, const struct statement *statement, const char *text)
{
    struct cached_statement *slot = statement_cache_find(&connection->cache, statement, text);
    struct sqlite_statement *prepared = slot ? slot->prepared : NULL;
    if (!prepared && !(prepared = prepare(connection, text, slot != NULL)))
        return false;
    if (slot)
        slot->prepared = prepared;
    connection->current = prepared;
    connection->current_is_cached = slot != NULL;
    return true;
}

/* With `keep` the caller's parameters are gone before the rows are read. An array's items are not: see db.h. */
static int bind_value(sqlite3_stmt *statement, int place, const struct db_value *value, struct arena *keep)
{
    sqlite3_destructor_type lifetime = keep ? SQLITE_TRANSIENT : SQLITE_STATIC;
    switch (value->type) {
    case DB_TYPE_NULL: return sqlite3_bind_null(statement, place);
    case DB_TYPE_INT: return sqlite3_bind_int64(statement, place, value->number);
    case DB_TYPE_BOOL: return sqlite3_bind_int(statement, place, value->truth);
    case DB_TYPE_TEXT:
        return sqlite3_bind_text64(statement, place, value->text.ptr, value->text.len, lifetime, SQLITE_UTF8);
    case DB_TYPE_BYTES: return sqlite3_bind_blob64(statement, place, value->text.ptr, value->text.len, lifetime);
    case DB_TYPE_UUID:
        return sqlite3_bind_blob(statement, place, value->uuid.bytes, sizeof(value->uuid.bytes), lifetime);
    case DB_TYPE_INTS:
    case DB_TYPE_TEXTS: break;
    }
    if (keep)
        value = memcpy(ARENA_NEW(keep, struct db_value), value, sizeof(*value));
    return sqlite_arrays_bind(statement, place, value);
}

bool sqlite_execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                    enum tx_purpose purpose)
{
    struct sqlite_connection *connection = (struct sqlite_connection *)tx;
    const char *text = statement_text(tx, statement);
    if (!make_current(connection, statement, text))
        return false;
    struct sqlite_statement *current = connection->current;
    bool bound = current->params == count;
    for (size_t i = 0; bound && i < current->places; i++)
        bound = bind_value(current->handle, (int)i + 1, &params[current->numbers[i] - 1],
                           purpose == TX_QUERY ? &tx->arena : NULL) == SQLITE_OK;
    if (!bound) {
        log_error("parameters do not fit the statement", LOG_C("sql", text));
        sqlite_end_rows(tx);
        tx_fail(tx, DB_ERROR, NULL);
        return false;
    }
    connection->statement_ends_ns = clock_mono_ns() + connection->timeout_ns;
    connection->row_is_ready = true;
    switch (sqlite3_step(current->handle)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: sqlite_end_rows(tx); return true;
    default: return fail(connection, text);
    }
}

bool sqlite_next_row(struct tx *tx)
{
    struct sqlite_connection *connection = (struct sqlite_connection *)tx;
    if (!connection->current)
        return false;
    if (connection->row_is_ready) {
        connection->row_is_ready = false;
        return true;
    }
    sqlite3_stmt *handle = connection->current->handle;
    switch (sqlite3_step(handle)) {
    case SQLITE_ROW: return true;
    case SQLITE_DONE: sqlite_end_rows(tx); return false;
    default: return fail(connection, sqlite3_sql(handle));
    }
}

void sqlite_end_rows(struct tx *tx)
{
    struct sqlite_connection *connection = (struct sqlite_connection *)tx;
    struct sqlite_statement *current = connection->current;
    if (!current)
        return;
    connection->current = NULL;
    sqlite3_reset(current->handle);
    if (!sqlite3_stmt_readonly(current->handle))
        tx->changes = sqlite3_changes64(connection->handle);
    if (!connection->current_is_cached)
        release_statement(current);
}

size_t sqlite_columns(const struct tx *tx)
{
    const struct sqlite_connection *connection = (const struct sqlite_connection *)tx;
    return connection->current ? (size_t)sqlite3_column_count(connection->current->handle) : 0;
}

const char *sqlite_column_name_of(const struct tx *tx, size_t column)
{
    const struct sqlite_connection *connection = (const struct sqlite_connection *)tx;
    return sqlite3_column_name(connection->current->handle, (int)column);
}

struct db_value sqlite_cell(struct tx *tx, size_t column)
{
    sqlite3_stmt *handle = ((struct sqlite_connection *)tx)->current->handle;
    int at = (int)column;
    switch (sqlite3_column_type(handle, at)) {
    case SQLITE_INTEGER: return DB_INT(sqlite3_column_int64(handle, at));
    case SQLITE_BLOB: {
        const char *bytes = sqlite3_column_blob(handle, at); /* NULL when it is empty */
        return DB_BYTES(str_make(bytes ? bytes : "", (size_t)sqlite3_column_bytes(handle, at)));
    }
    case SQLITE_TEXT:
    case SQLITE_FLOAT: {
        const char *text = (const char *)sqlite3_column_text(handle, at);
        return DB_TEXT(str_make(text, (size_t)sqlite3_column_bytes(handle, at)));
    }
    default: return DB_NULL;
    }
}
