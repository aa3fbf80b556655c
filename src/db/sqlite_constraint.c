/*
 * SQLite tells which columns of a unique constraint clashed, PostgreSQL the
 * constraint's name. Code asks for names, so they are found here through the
 * schema, following PostgreSQL's naming where SQLite knows none.
 */
#include "db/sqlite_connection.h"

#include <stdio.h>

/* "table.first, table.second" → "table" and "first,second" */
static bool split_columns(const char *list, char *table, size_t table_size, char *columns, size_t columns_size)
{
    const char *dot = strchr(list, '.');
    if (!dot || (size_t)(dot - list) >= table_size)
        return false;
    snprintf(table, table_size, "%.*s", (int)(dot - list), list);

    struct buf out = BUF_INIT(columns_size);
    struct str rest = str_from(list), item;
    while (str_split(&rest, ',', &item)) {
        ptrdiff_t at = str_find_char(item, '.');
        if (out.len)
            buf_add_char(&out, ',');
        buf_add(&out, str_from_offset(item, (size_t)(at + 1)));
    }
    const char *text = buf_c_string(&out);
    if (text)
        snprintf(columns, columns_size, "%s", text);
    buf_free(&out);
    return text != NULL;
}

static bool find_unique_index(sqlite3 *handle, const char *table, const char *columns, char *name, size_t size)
{
    static const char query[] =
        "SELECT list.name, list.origin FROM pragma_index_list(?1) AS list WHERE list.\"unique\" AND "
        "(SELECT group_concat(info.name, ',') FROM pragma_index_info(list.name) AS info) = ?2 "
        "ORDER BY list.origin, list.name";
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(handle, query, sizeof(query), &statement, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, columns, -1, SQLITE_STATIC);
    bool named = sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 1)[0] == 'c';
    if (named)
        snprintf(name, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return named;
}

static void name_unique(sqlite3 *handle, const char *list, bool primary, char name[SQLITE_CONSTRAINT_NAME])
{
    char table[SQLITE_CONSTRAINT_NAME], columns[512], joined[512];
    struct str index = str_from(list);
    if (str_starts(index, STR("index '"))) { /* an index over an expression is given by name */
        snprintf(name, SQLITE_CONSTRAINT_NAME, "%.*s", (int)(index.len - strlen("index ''")), list + strlen("index '"));
        return;
    }
    if (!split_columns(list, table, sizeof(table), columns, sizeof(columns)))
        return;
    if (primary) {
        snprintf(joined, sizeof(joined), "%s_pkey", table);
    } else if (find_unique_index(handle, table, columns, joined, sizeof(joined))) {
        ;
    } else {
        for (char *comma = columns; (comma = strchr(comma, ',')); comma++)
            *comma = '_';
        snprintf(joined, sizeof(joined), "%s_%.400s_key", table, columns);
    }
    snprintf(name, SQLITE_CONSTRAINT_NAME, "%.*s", SQLITE_CONSTRAINT_NAME - 1, joined);
}

static void name_not_null(const char *column, char name[SQLITE_CONSTRAINT_NAME])
{
    snprintf(name, SQLITE_CONSTRAINT_NAME, "%.50s_not_null", column);
    char *dot = strchr(name, '.');
    if (dot)
        *dot = '_';
}

void sqlite_constraint_name(sqlite3 *handle, int result, const char *message, char name[SQLITE_CONSTRAINT_NAME])
{
    name[0] = '\0';
    const char *subject = strstr(message, "failed: ");
    if (!subject)
        return;
    subject += strlen("failed: ");
    switch (result) {
    case SQLITE_CONSTRAINT_UNIQUE: name_unique(handle, subject, false, name); break;
    case SQLITE_CONSTRAINT_ROWID:
    case SQLITE_CONSTRAINT_PRIMARYKEY: name_unique(handle, subject, true, name); break;
    case SQLITE_CONSTRAINT_CHECK: snprintf(name, SQLITE_CONSTRAINT_NAME, "%.63s", subject); break;
    case SQLITE_CONSTRAINT_NOTNULL: name_not_null(subject, name); break;
    default: break;
    }
}
