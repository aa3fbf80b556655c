#include "db/sqlite_arrays.h"

#include <stdlib.h>

enum { ARRAYS_MAX = 8 }; /* the columns c1 … c8; behind them, hidden, the arguments a1 … a8 */

static const char SCHEMA[] = "CREATE TABLE unnest (c1, c2, c3, c4, c5, c6, c7, c8, a1 HIDDEN, a2 HIDDEN, a3 HIDDEN, "
                             "a4 HIDDEN, a5 HIDDEN, a6 HIDDEN, a7 HIDDEN, a8 HIDDEN)";
static const char POINTER_TYPE[] = "tickettock array";

struct cursor {
    sqlite3_vtab_cursor base; /* first */
    const struct db_value *arrays[ARRAYS_MAX];
    size_t array_count, row, row_count;
};

static int on_connect(sqlite3 *handle, void *context, int word_count, const char *const *words, sqlite3_vtab **table,
                      char **error)
{
    (void)context, (void)word_count, (void)words, (void)error;
    int result = sqlite3_declare_vtab(handle, SCHEMA);
    if (result != SQLITE_OK)
        return result;
    *table = calloc(1, sizeof(**table));
    return *table ? SQLITE_OK : SQLITE_NOMEM;
}

static int on_disconnect(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

/* The only plan: every argument is given, the first ones without a gap, and goes to on_filter in its place. */
static int on_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    int highest = 0, given = 0;
    for (int i = 0; i < info->nConstraint; i++) {
        int argument = info->aConstraint[i].iColumn - ARRAYS_MAX;
        if (argument < 0 || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        info->aConstraintUsage[i].argvIndex = argument + 1;
        info->aConstraintUsage[i].omit = 1;
        given++;
        if (argument + 1 > highest)
            highest = argument + 1;
    }
    info->estimatedCost = 1;
    return given > 0 && given == highest ? SQLITE_OK : SQLITE_CONSTRAINT;
}

static int on_open(sqlite3_vtab *table, sqlite3_vtab_cursor **opened)
{
    (void)table;
    struct cursor *cursor = calloc(1, sizeof(*cursor));
    if (!cursor)
        return SQLITE_NOMEM;
    *opened = &cursor->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    free(base);
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int count, sqlite3_value **arguments)
{
    (void)plan, (void)plan_text;
    struct cursor *cursor = (struct cursor *)base;
    cursor->row = 0;
    cursor->array_count = (size_t)count;
    for (int i = 0; i < count; i++) {
        const struct db_value *array = cursor->arrays[i] = sqlite3_value_pointer(arguments[i], POINTER_TYPE);
        if (!array || (i > 0 && array->array.count != cursor->row_count)) {
            base->pVtab->zErrMsg = sqlite3_mprintf("unnest: argument %d is no array, or of another length", i + 1);
            return SQLITE_ERROR;
        }
        cursor->row_count = array->array.count;
    }
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    ((struct cursor *)base)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->row >= cursor->row_count;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct cursor *cursor = (const struct cursor *)base;
    if ((size_t)column >= cursor->array_count)
        return SQLITE_OK; /* NULL */
    const struct db_value *array = cursor->arrays[column];
    if (array->type == DB_TYPE_INTS) {
        sqlite3_result_int64(context, ((const int64_t *)array->array.items)[cursor->row]);
        return SQLITE_OK;
    }
    struct str text = ((const struct str *)array->array.items)[cursor->row];
    if (text.ptr)
        sqlite3_result_text64(context, text.ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
    return SQLITE_OK;
}

static int on_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((const struct cursor *)base)->row;
    return SQLITE_OK;
}

/* No xCreate: it exists in every connection by itself, and no CREATE VIRTUAL TABLE can make another. */
static const sqlite3_module MODULE = {
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = is_at_end,
    .xColumn = on_column,
    .xRowid = on_row_id,
};

int sqlite_arrays_register(sqlite3 *handle)
{
    return sqlite3_create_module_v2(handle, "unnest", &MODULE, NULL, NULL);
}

int sqlite_arrays_bind(sqlite3_stmt *statement, int place, const struct db_value *array)
{
    return sqlite3_bind_pointer(statement, place, (void *)array, POINTER_TYPE, NULL);
}
