/* What a unit calls, over either adapter: sticky errors, sound parameters, typed columns. */
#include "db/adapter.h"

#include "base/log.h"

#include <assert.h>
#include <stdio.h>

enum { UNIT_MEMORY = 64 << 20 };

_Noreturn static void memory_exhausted(void *context)
{
    struct tx *tx = context;
    longjmp(tx->out_of_memory, 1);
}

void tx_init(struct tx *tx, const struct db_adapter *adapter, bool read_only)
{
    *tx = (struct tx){.adapter = adapter, .read_only = read_only, .rows.tx = tx};
    arena_init(&tx->arena, UNIT_MEMORY);
    tx->arena.exhausted = memory_exhausted;
    tx->arena.context = tx;
}

void tx_free(struct tx *tx)
{
    arena_free(&tx->arena);
}

enum db_outcome tx_run(struct tx *tx, struct db_job *job)
{
    arena_reset(&tx->arena);
    tx->error = DB_OK;
    tx->failure = (struct db_failure){0};
    tx->changes = 0;
    tx->over = false;
    log_set_trace(job->trace);

    volatile bool commit = false;
    if (setjmp(tx->out_of_memory) == 0) {
        commit = job->unit(tx, job->argument);
    } else {
        log_error("a unit of work needs too much memory");
        tx_fail(tx, DB_ERROR, NULL);
    }
    tx->adapter->end_rows(tx);
    log_set_trace((struct str){NULL, 0});
    if (tx->error != DB_OK)
        return tx->error;
    assert(commit || !tx->over);
    return commit ? DB_OK : DB_ROLLED_BACK;
}

void tx_fail(struct tx *tx, enum db_outcome outcome, const char *constraint)
{
    if (tx->error != DB_OK)
        return;
    tx->error = outcome;
    if (constraint)
        snprintf(tx->failure.constraint, sizeof(tx->failure.constraint), "%s", constraint);
}

bool tx_is_postgres(const struct tx *tx)
{
    return tx->adapter->is_postgres;
}

void tx_give_up(struct tx *tx)
{
    tx_fail(tx, DB_ERROR, NULL);
}

bool tx_failed(const struct tx *tx)
{
    return tx->error != DB_OK;
}

struct arena *tx_arena(struct tx *tx)
{
    return &tx->arena;
}

int64_t tx_changes(const struct tx *tx)
{
    return tx->changes;
}

const char *statement_text(const struct tx *tx, const struct statement *statement)
{
    const char *own = tx->adapter->is_postgres ? statement->postgres : statement->sqlite;
    return own ? own : statement->sql;
}

static bool text_is_sound(struct str text)
{
    return !text.ptr || (str_find_char(text, '\0') < 0 && str_is_utf8(text));
}

/* PostgreSQL refuses what is not UTF-8 and cannot carry a NUL; SQLite would store both. */
static bool value_is_sound(const struct db_value *value)
{
    if (value->type == DB_TYPE_TEXT)
        return text_is_sound(value->text);
    if (value->type == DB_TYPE_TEXTS)
        for (size_t i = 0; i < value->array.count; i++)
            if (!text_is_sound(((const struct str *)value->array.items)[i]))
                return false;
    return true;
}

static bool refuse(struct tx *tx, const struct statement *statement, const char *why)
{
    log_error("statement refused", LOG_C("reason", why), LOG_C("sql", statement_text(tx, statement)));
    tx_fail(tx, DB_ERROR, NULL);
    return false;
}

static bool execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                    enum tx_purpose purpose)
{
    if (tx->error != DB_OK)
        return false;
    assert(!tx->over);
    tx->adapter->end_rows(tx);
    tx->changes = 0;
    if (!statement_text(tx, statement))
        return refuse(tx, statement, "it has no text for this database");
    if (count > DB_MAX_PARAMS)
        return refuse(tx, statement, "too many parameters");
    for (size_t i = 0; i < count; i++)
        if (!value_is_sound(&params[i]))
            return refuse(tx, statement, "a text is not UTF-8 or has a NUL in it");
    return tx->adapter->execute(tx, statement, params, count, purpose);
}

static bool execute_to_its_end(struct tx *tx, const struct statement *statement, const struct db_value *params,
                               size_t count, enum tx_purpose purpose)
{
    if (!execute(tx, statement, params, count, purpose))
        return false;
    while (rows_next(&tx->rows))
        ;
    return tx->error == DB_OK;
}

bool tx_exec(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count)
{
    return execute_to_its_end(tx, statement, params, count, TX_EXEC);
}

bool tx_exec_last(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count)
{
    bool done = execute_to_its_end(tx, statement, params, count, TX_LAST);
    tx->over = true;
    return done;
}

struct rows *tx_query(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count)
{
    tx->rows.guess = 0;
    execute(tx, statement, params, count, TX_QUERY);
    return &tx->rows;
}

bool rows_next(struct rows *rows)
{
    struct tx *tx = rows->tx;
    return tx->error == DB_OK && tx->adapter->next_row(tx);
}

/* Columns are mostly asked for in their order, so the search begins behind the last one found. */
static struct db_value cell(struct rows *rows, const char *column)
{
    struct tx *tx = rows->tx;
    size_t columns = tx->adapter->columns(tx);
    for (size_t tried = 0; tried < columns; tried++) {
        size_t at = (rows->guess + tried) % columns;
        if (strcmp(tx->adapter->column_name(tx, at), column) == 0) {
            rows->guess = at + 1;
            return tx->adapter->cell(tx, at);
        }
    }
    log_error("the rows have no such column", LOG_C("column", column));
    tx_fail(tx, DB_ERROR, NULL);
    return DB_NULL;
}

static void wrong_type(struct rows *rows, const char *column, const char *wanted)
{
    log_error("a column has another type than asked for", LOG_C("column", column), LOG_C("wanted", wanted));
    tx_fail(rows->tx, DB_ERROR, NULL);
}

bool row_null(struct rows *rows, const char *column)
{
    return cell(rows, column).type == DB_TYPE_NULL;
}

int64_t row_int(struct rows *rows, const char *column)
{
    struct db_value value = cell(rows, column);
    int64_t number = 0;
    switch (value.type) {
    case DB_TYPE_NULL: return 0;
    case DB_TYPE_INT: return value.number;
    case DB_TYPE_BOOL: return value.truth;
    default: break;
    }
    if (value.type != DB_TYPE_TEXT || !str_to_int64(value.text, &number))
        wrong_type(rows, column, "integer");
    return number;
}

bool row_bool(struct rows *rows, const char *column)
{
    return row_int(rows, column) != 0;
}

struct str row_text(struct rows *rows, const char *column)
{
    struct db_value value = cell(rows, column);
    switch (value.type) {
    case DB_TYPE_NULL: return (struct str){NULL, 0};
    case DB_TYPE_TEXT: return value.text;
    case DB_TYPE_INT: return arena_format(&rows->tx->arena, "%lld", (long long)value.number);
    default: wrong_type(rows, column, "text"); return (struct str){NULL, 0};
    }
}

struct str row_bytes(struct rows *rows, const char *column)
{
    struct db_value value = cell(rows, column);
    if (value.type == DB_TYPE_NULL)
        return (struct str){NULL, 0};
    if (value.type != DB_TYPE_BYTES && value.type != DB_TYPE_TEXT)
        wrong_type(rows, column, "bytes");
    return value.text;
}

struct uuid row_uuid(struct rows *rows, const char *column)
{
    struct db_value value = cell(rows, column);
    struct uuid uuid = {{0}};
    if (value.type == DB_TYPE_BYTES && value.text.len == sizeof(uuid.bytes))
        memcpy(uuid.bytes, value.text.ptr, sizeof(uuid.bytes));
    else if (value.type != DB_TYPE_NULL && (value.type != DB_TYPE_TEXT || !uuid_parse(value.text, &uuid)))
        wrong_type(rows, column, "uuid");
    return uuid;
}
