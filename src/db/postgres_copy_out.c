/* All tables of all services as of one moment: one transaction reads them, in the role of each service in turn. */
#include "base/log.h"
#include "db/adapter.h"
#include "db/copy.h"
#include "db/migrate_internal.h"
#include "db/postgres_command.h"

#include <stdio.h>
#include <stdlib.h>

struct copier {
    struct postgres_command command;
    const char *folder;
    struct arena *arena;
    struct copy *copy;
};

/* Those that others refer to come first, so that they can be filled in this order. Generated columns are left out. */
static const char select_tables[] =
    "WITH RECURSIVE tables AS (SELECT oid, relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = "
    "'r' AND relname <> 'schema_migrations'), "
    "depths (oid, depth) AS (SELECT oid, 0 FROM tables UNION ALL SELECT conrelid, depth + 1 FROM depths "
    "JOIN pg_constraint ON confrelid = depths.oid AND contype = 'f' AND conrelid <> confrelid WHERE depth < 16) "
    "SELECT relname, (SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = tables.oid "
    "AND attnum > 0 AND NOT attisdropped AND attgenerated = '') "
    "FROM tables ORDER BY (SELECT max(depth) FROM depths WHERE depths.oid = tables.oid), relname";
static const char select_sequences[] =
    "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = $1 AND last_value IS NOT NULL";
static const char select_migrations[] = "SELECT hash FROM schema_migrations WHERE $1 <> '' ORDER BY number";

static bool fail(struct copier *copier, const char *what, const char *name)
{
    log_error(what, LOG_C("name", name), LOG_C("reason", copier->command.reason));
    return false;
}

/* NULL after logging. The caller clears it. */
static PGresult *query(struct copier *copier, const char *sql, const char *service, int max_rows)
{
    PGresult *result = PQexecParams(copier->command.handle, sql, 1, NULL, &service, NULL, NULL, 0);
    if (postgres_command_take(&copier->command, result) && PQntuples(result) <= max_rows)
        return result;
    fail(copier, "cannot read the schema", service);
    PQclear(result);
    return NULL;
}

static struct str cell(struct copier *copier, const PGresult *result, int row, int column)
{
    return arena_copy(copier->arena, str_from(PQgetvalue(result, row, column)));
}

static bool read_migrations(struct copier *copier, const char *service, struct json_strings *hashes)
{
    PGresult *result = query(copier, select_migrations, service, COPY_MIGRATIONS_MAX);
    hashes->count = (size_t)PQntuples(result);
    hashes->items = ARENA_NEW_ARRAY(copier->arena, struct str, hashes->count);
    for (int row = 0; row < PQntuples(result); row++)
        hashes->items[row] = cell(copier, result, row, 0);
    PQclear(result);
    return result != NULL;
}

static bool read_tables(struct copier *copier, const char *service, struct json_objects *tables)
{
    PGresult *result = query(copier, select_tables, service, COPY_TABLES_MAX);
    struct copy_table *table = ARENA_NEW_ARRAY(copier->arena, struct copy_table, COPY_TABLES_MAX);
    *tables = (struct json_objects){.items = table, .count = (size_t)PQntuples(result)};
    for (int row = 0; row < PQntuples(result); row++, table++) {
        struct str rest = cell(copier, result, row, 1), column;
        table->name = cell(copier, result, row, 0);
        table->columns.items = ARENA_NEW_ARRAY(copier->arena, struct str, COPY_COLUMNS_MAX);
        while (table->columns.count < COPY_COLUMNS_MAX && str_split(&rest, ',', &column))
            table->columns.items[table->columns.count++] = column;
    }
    PQclear(result);
    return result != NULL;
}

/* They belong to no transaction, and are read after the tables: a number that stands in a row has been given out. */
static bool read_sequences(struct copier *copier, const char *service, struct json_objects *sequences)
{
    PGresult *result = query(copier, select_sequences, service, COPY_TABLES_MAX);
    struct copy_sequence *sequence = ARENA_NEW_ARRAY(copier->arena, struct copy_sequence, COPY_TABLES_MAX);
    bool good = result != NULL;
    *sequences = (struct json_objects){.items = sequence, .count = (size_t)PQntuples(result)};
    for (int row = 0; row < PQntuples(result); row++, sequence++) {
        sequence->name = cell(copier, result, row, 0);
        good &= str_to_int64(cell(copier, result, row, 1), &sequence->value);
    }
    PQclear(result);
    return good;
}

static bool write_rows(struct copier *copier, struct summed_file *file)
{
    char *bytes;
    int length;
    bool good = true;
    while ((length = PQgetCopyData(copier->command.handle, &bytes, 0)) > 0) {
        good = good && summed_file_write(file, bytes, (size_t)length);
        PQfreemem(bytes);
    }
    PGresult *result = PQgetResult(copier->command.handle);
    good = postgres_command_take(&copier->command, result) && length == -1 && good;
    PQclear(result);
    while ((result = PQgetResult(copier->command.handle)))
        PQclear(result);
    return good;
}

static bool copy_table(struct copier *copier, const char *service, const struct copy_table *table)
{
    struct file_sum sum;
    struct summed_file file;
    struct buf sql = BUF_INIT(1 << 16);
    const char *name = arena_format(copier->arena, "%s.%.*s.copy", service, STR_ARG(table->name)).ptr;
    const char *path = arena_format(copier->arena, "%s/%s", copier->folder, name).ptr;
    buf_add_format(&sql, "COPY %.*s (", STR_ARG(table->name));
    for (size_t i = 0; i < table->columns.count; i++)
        buf_add_format(&sql, "%s%.*s", i ? ", " : "", STR_ARG(table->columns.items[i]));
    buf_add_format(&sql, ") TO STDOUT");
    PGresult *result = PQexec(copier->command.handle, buf_c_string(&sql));
    bool good = postgres_command_take(&copier->command, result);
    PQclear(result);
    buf_free(&sql);
    if (!good)
        return fail(copier, "cannot copy a table", name);
    good = summed_file_create(&file, path);
    good = write_rows(copier, &file) && good;
    if (!summed_file_finish(&file, good, &sum))
        return fail(copier, "cannot copy a table", name);
    return copy_add_file(copier->copy, copier->arena, name, &sum);
}

static bool copy_service(struct copier *copier, const char *service)
{
    struct copy_service *described = (struct copy_service *)copier->copy->services.items + copier->copy->services.count;
    if (copier->copy->services.count == COPY_SERVICES_MAX)
        return false;
    if (!postgres_command_become(&copier->command, service))
        return fail(copier, "cannot become the service's role", service);
    if (!read_migrations(copier, service, &described->migrations) || !read_tables(copier, service, &described->tables))
        return false;
    const struct copy_table *tables = described->tables.items;
    for (size_t i = 0; i < described->tables.count; i++)
        if (!copy_table(copier, service, &tables[i]))
            return false;
    described->name = arena_copy(copier->arena, str_from(service));
    copier->copy->services.count++;
    return read_sequences(copier, service, &described->sequences);
}

/* No migration may change tables meanwhile, which would be seen at once: no moment is kept for the shape of a table. */
static bool begin(struct copier *copier)
{
    return postgres_command_run(&copier->command, "SET statement_timeout = 0") &&
           postgres_command_run(&copier->command, "SET idle_in_transaction_session_timeout = 0") &&
           postgres_command_run(&copier->command, "SET lock_timeout = '10s'") &&
           postgres_command_run(&copier->command, "SELECT pg_advisory_lock_shared(" MIGRATION_LOCK ")") &&
           postgres_command_run(&copier->command, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

bool postgres_copy_out(const char *url, const char *const *services, const char *folder, struct arena *arena,
                       struct copy *copy)
{
    struct copier copier = {.folder = folder, .arena = arena, .copy = copy};
    bool good = postgres_command_open(&copier.command, url, "tickettock backup");
    if (good && !begin(&copier))
        good = fail(&copier, "cannot begin to read the database", "transaction");
    for (; good && *services; services++)
        good = db_service_name_is_sound(*services) && copy_service(&copier, *services);
    postgres_command_close(&copier.command);
    return good;
}
