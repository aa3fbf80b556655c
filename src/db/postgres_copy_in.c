/* Fills empty tables from a copy, in one transaction. Names come from the copy's manifest: they are checked before they
 * go into a statement. */
#include "base/log.h"
#include "db/adapter.h"
#include "db/copy.h"
#include "db/migrate_internal.h"
#include "db/postgres_command.h"
#include "db/postgres_servers.h"

#include <stdio.h>

struct filler {
    struct postgres_command command;
    const struct copy *copy;
    const char *folder;
};

static bool fail(struct filler *filler, const char *what, struct str name)
{
    log_error(what, LOG_STR("name", name), LOG_C("reason", filler->command.reason));
    return false;
}

static bool refuse(const char *what, struct str name)
{
    log_error(what, LOG_STR("name", name));
    return false;
}

/* As migrations name things: small letters, digits, underscores. */
static bool name_is_sound(struct str name)
{
    bool sound = name.len > 0 && name.len < 64 && !(name.ptr[0] >= '0' && name.ptr[0] <= '9');
    for (size_t i = 0; sound && i < name.len; i++) {
        char c = name.ptr[i];
        sound = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    }
    return sound || refuse("the backup has a name that no table, column or sequence of ours has", name);
}

static bool names_are_sound(const struct copy_service *service)
{
    const struct copy_table *tables = service->tables.items;
    const struct copy_sequence *sequences = service->sequences.items;
    bool sound = name_is_sound(service->name);
    for (size_t i = 0; sound && i < service->tables.count; i++) {
        sound = name_is_sound(tables[i].name) && tables[i].columns.count > 0;
        for (size_t k = 0; sound && k < tables[i].columns.count; k++)
            sound = name_is_sound(tables[i].columns.items[k]);
    }
    for (size_t i = 0; sound && i < service->sequences.count; i++)
        sound = name_is_sound(sequences[i].name);
    return sound;
}

static bool become(struct filler *filler, struct str service)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", STR_ARG(service));
    return postgres_command_become(&filler->command, name) || fail(filler, "cannot become the service's role", service);
}

/* The names in the first column. NULL after logging. */
static PGresult *query_names(struct filler *filler, const char *sql, struct str service)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", STR_ARG(service));
    const char *values[] = {name};
    PGresult *result = PQexecParams(filler->command.handle, sql, 1, NULL, values, NULL, NULL, 0);
    if (postgres_command_take(&filler->command, result))
        return result;
    fail(filler, "cannot read the schema", service);
    PQclear(result);
    return NULL;
}

/* What migrations themselves put into a new database is no data. */
static const char select_tables[] =
    "SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind = 'r' "
    "AND relname NOT IN ('schema_migrations', 'installation')";

static bool is_empty(struct filler *filler, struct str service, bool lock)
{
    PGresult *tables = query_names(filler, select_tables, service);
    bool empty = tables != NULL;
    for (int row = 0; empty && row < PQntuples(tables); row++) {
        const char *table = PQgetvalue(tables, row, 0);
        char *quoted = PQescapeIdentifier(filler->command.handle, table, strlen(table));
        char sql[256];
        snprintf(sql, sizeof(sql), "SELECT 1 FROM %s WHERE $1 <> '' LIMIT 1", quoted);
        if (lock && !postgres_command_run(&filler->command, "LOCK TABLE %s IN ACCESS EXCLUSIVE MODE", quoted))
            empty = fail(filler, "cannot lock a table", str_from(table));
        else if (postgres_command_exists(&filler->command, sql, table))
            empty = refuse("the database has data; restore goes into an empty one", str_from(table));
        else if (filler->command.reason[0])
            empty = fail(filler, "cannot read a table", str_from(table));
        PQfreemem(quoted);
    }
    PQclear(tables);
    return empty;
}

/* At most as far as the copy (or, to be filled, exactly as far), by the same migrations. */
static bool migrations_fit(struct filler *filler, const struct copy_service *service, bool exactly)
{
    PGresult *result =
        query_names(filler, "SELECT hash FROM schema_migrations WHERE $1 <> '' ORDER BY number", service->name);
    size_t count = (size_t)PQntuples(result);
    bool fit = result && count <= service->migrations.count && (!exactly || count == service->migrations.count);
    for (size_t i = 0; fit && i < count; i++)
        fit = str_eq(str_from(PQgetvalue(result, (int)i, 0)), service->migrations.items[i]);
    if (result && !fit)
        refuse("the database has been migrated further than the backup; restore into a new database", service->name);
    PQclear(result);
    return fit;
}

static bool exists(struct filler *filler, const char *sql, struct str service)
{
    char name[64];
    snprintf(name, sizeof(name), "%.*s", STR_ARG(service));
    return postgres_command_exists(&filler->command, sql, name);
}

/* A schema that is not there, or that another role may not use, has nothing of ours. */
static bool may_enter(struct filler *filler, const struct copy_service *service)
{
    if (!exists(filler, "SELECT 1 WHERE to_regclass($1 || '.schema_migrations') IS NOT NULL", service->name))
        return filler->command.reason[0] == '\0' || fail(filler, "cannot read the schema", service->name);
    return become(filler, service->name) && migrations_fit(filler, service, false) &&
           is_empty(filler, service->name, false);
}

static bool begin(struct filler *filler, const char *url, const struct copy *copy)
{
    const struct copy_service *services = copy->services.items;
    filler->copy = copy;
    for (size_t i = 0; i < copy->services.count; i++)
        if (!names_are_sound(&services[i]))
            return false;
    if (!postgres_command_open(&filler->command, url, "tickettock restore"))
        return false;
    if (!postgres_command_run(&filler->command, "SET statement_timeout = 0") ||
        !postgres_command_run(&filler->command, "SET idle_in_transaction_session_timeout = 0") ||
        !postgres_command_run(&filler->command, "SET lock_timeout = '10s'") ||
        !postgres_command_run(&filler->command, "BEGIN"))
        return fail(filler, "cannot begin a transaction", STR("restore"));
    if (postgres_command_exists(&filler->command, "SELECT 1" POSTGRES_SERVERS_FROM " AND $1 <> '' LIMIT 1", "restore"))
        return refuse("servers are connected to the database; stop them first", STR("restore"));
    return true;
}

bool postgres_copy_may_enter(const char *url, const struct copy *copy)
{
    const struct copy_service *services = copy->services.items;
    struct filler filler = {0};
    bool may = begin(&filler, url, copy);
    for (size_t i = 0; may && i < copy->services.count; i++)
        may = postgres_command_run(&filler.command, "RESET ROLE") && may_enter(&filler, &services[i]);
    postgres_command_close(&filler.command);
    return may;
}

static bool send_piece(void *context, const void *bytes, size_t size)
{
    struct filler *filler = context;
    return PQputCopyData(filler->command.handle, bytes, (int)size) == 1;
}

/* The file's sum is taken once more, of what the database was really given. */
static bool send_file(struct filler *filler, const struct copy_file *file)
{
    char path[4096];
    struct file_sum sum;
    if ((size_t)snprintf(path, sizeof(path), "%s/%.*s", filler->folder, STR_ARG(file->name)) >= sizeof(path))
        return refuse("a file's name is too long", file->name);
    bool sent = summed_file_read(path, send_piece, filler, &sum) && sum.size == file->size &&
                str_eq(str_from(sum.sha256), file->sha256);
    if (PQputCopyEnd(filler->command.handle, sent ? NULL : "the file could not be read") != 1)
        sent = false;
    PGresult *result = PQgetResult(filler->command.handle);
    if (!postgres_command_take(&filler->command, result))
        sent = false;
    PQclear(result);
    while ((result = PQgetResult(filler->command.handle)))
        PQclear(result);
    return sent;
}

static bool fill_table(struct filler *filler, struct str service, const struct copy_table *table)
{
    char name[160];
    snprintf(name, sizeof(name), "%.*s.%.*s.copy", STR_ARG(service), STR_ARG(table->name));
    const struct copy_file *file = copy_find_file(filler->copy, str_from(name));
    if (!file)
        return refuse("the backup lacks a file", str_from(name));
    if (!postgres_command_run(&filler->command, "DELETE FROM %.*s", STR_ARG(table->name)))
        return fail(filler, "cannot empty a table", table->name);
    struct buf sql = BUF_INIT(1 << 16);
    buf_add_format(&sql, "COPY %.*s (", STR_ARG(table->name));
    for (size_t i = 0; i < table->columns.count; i++)
        buf_add_format(&sql, "%s%.*s", i ? ", " : "", STR_ARG(table->columns.items[i]));
    buf_add_format(&sql, ") FROM STDIN");
    PGresult *result = PQexec(filler->command.handle, buf_c_string(&sql));
    bool good = postgres_command_take(&filler->command, result);
    PQclear(result);
    buf_free(&sql);
    return (good && send_file(filler, file)) || fail(filler, "cannot fill a table", str_from(name));
}

static bool fill_service(struct filler *filler, const struct copy_service *service)
{
    const struct copy_table *tables = service->tables.items;
    const struct copy_sequence *sequences = service->sequences.items;
    if (!become(filler, service->name) || !is_empty(filler, service->name, true) ||
        !migrations_fit(filler, service, true))
        return false;
    for (size_t i = 0; i < service->tables.count; i++)
        if (!fill_table(filler, service->name, &tables[i]))
            return false;
    for (size_t i = 0; i < service->sequences.count; i++)
        if (!postgres_command_run(&filler->command, "SELECT setval('%.*s', %lld)", STR_ARG(sequences[i].name),
                                  (long long)sequences[i].value))
            return fail(filler, "cannot set a sequence", sequences[i].name);
    /* Without it the first statements would be planned as if nothing were there. */
    return postgres_command_run(&filler->command, "ANALYZE") || fail(filler, "cannot analyze", service->name);
}

bool postgres_copy_in(const char *url, const struct copy *copy, const char *folder)
{
    const struct copy_service *services = copy->services.items;
    struct filler filler = {.folder = folder};
    bool good = begin(&filler, url, copy);
    for (size_t i = 0; good && i < copy->services.count; i++)
        good = fill_service(&filler, &services[i]);
    if (good && !postgres_command_run(&filler.command, "COMMIT"))
        good = fail(&filler, "cannot commit what was restored", STR("restore"));
    postgres_command_close(&filler.command);
    return good;
}
