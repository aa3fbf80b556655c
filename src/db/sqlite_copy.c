/* A copy of an SQLite file by SQLite's own backup interface: it reads one state of the file, whatever is written to it
 * meanwhile, and keeps nobody from writing. */
#include "base/log.h"
#include "base/private_file.h"
#include "db/copy.h"
#include "db/migrate_internal.h"
#include "db/sqlite_connection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

enum { WAIT_MS = 10000, ALL_PAGES = -1 };

static bool refuse(const char *what, const char *path, const char *reason)
{
    log_error(what, LOG_C("path", path), LOG_C("reason", reason));
    return false;
}

static bool copy_pages(sqlite3 *from, sqlite3 *to)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return false;
    /* All at once: between two steps somebody might write, and it would begin again. */
    int result = sqlite3_backup_step(backup, ALL_PAGES);
    return sqlite3_backup_finish(backup) == SQLITE_OK && result == SQLITE_DONE;
}

/* The first column of the only row is "ok". */
static bool is_sound(sqlite3 *handle)
{
    sqlite3_stmt *statement = NULL;
    bool sound = sqlite3_prepare_v2(handle, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
                 sqlite3_step(statement) == SQLITE_ROW &&
                 strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    return sound;
}

static bool read_migrations(sqlite3 *handle, struct arena *arena, struct json_strings *hashes)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(handle, "SELECT hash FROM schema_migrations ORDER BY number", -1, &statement, NULL);
    hashes->items = ARENA_NEW_ARRAY(arena, struct str, COPY_MIGRATIONS_MAX);
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW || hashes->count == COPY_MIGRATIONS_MAX)
            break;
        hashes->items[hashes->count++] = arena_copy(arena, str_from((const char *)sqlite3_column_text(statement, 0)));
    }
    sqlite3_finalize(statement);
    return result == SQLITE_DONE;
}

/* The copy is to be one file, without a log beside it, that can be read from a disc that cannot be written. */
static bool settle(sqlite3 *copy)
{
    return sqlite3_exec(copy, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK;
}

static bool copy_file(const char *from, const char *to, struct arena *arena, struct json_strings *hashes)
{
    sqlite3 *source = NULL, *copy = NULL;
    bool good = false;
    if (sqlite3_open_v2(from, &source, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        refuse("cannot open the database file", from, sqlite3_errmsg(source));
    else if (!private_file_create(to))
        refuse("cannot create a file", to, strerror(errno));
    else if (sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        refuse("cannot create a file", to, sqlite3_errmsg(copy));
    else {
        sqlite3_busy_timeout(source, WAIT_MS);
        good = copy_pages(source, copy) && settle(copy);
        if (!good)
            refuse("cannot copy the database file", from, sqlite3_errmsg(copy));
        else if (!is_sound(copy) || !read_migrations(copy, arena, hashes))
            good = refuse("the database file is damaged", from, sqlite3_errmsg(copy));
    }
    sqlite3_close(copy);
    sqlite3_close(source);
    return good;
}

bool sqlite_copy_out(const char *directory, const char *service, const char *folder, struct arena *arena,
                     struct copy *copy)
{
    const char *name = arena_format(arena, "%s.db", service).ptr;
    const char *from = arena_format(arena, "%s/%s", directory, name).ptr;
    const char *to = arena_format(arena, "%s/%s", folder, name).ptr;
    struct copy_service *described = (struct copy_service *)copy->services.items + copy->services.count;
    struct file_sum sum;
    sqlite_library_prepare();
    if (copy->services.count == COPY_SERVICES_MAX || !copy_file(from, to, arena, &described->migrations) ||
        !summed_file_sync(to) || !summed_file_read(to, NULL, NULL, &sum))
        return false;
    described->name = arena_copy(arena, str_from(service));
    copy->services.count++;
    return copy_add_file(copy, arena, name, &sum);
}
