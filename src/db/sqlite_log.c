#include "db/sqlite_log.h"

#include "base/log.h"

#include <sys/statvfs.h>

enum { PAGE_BYTES = 4096, WORTH_PAGES = 1000, LONG_PAGES = 65536, ROOM_FOR_LOGS = 4 }; /* 4 MiB and 256 MiB */

static int on_commit(void *context, sqlite3 *handle, const char *name, int pages)
{
    (void)handle, (void)name;
    ((struct sqlite_log *)context)->pages = (size_t)pages;
    return SQLITE_OK;
}

void sqlite_log_own(struct sqlite_log *log, sqlite3 *handle)
{
    *log = (struct sqlite_log){.handle = handle};
    sqlite3_wal_hook(handle, on_commit, log); /* instead of SQLite's own, which writes back every thousand pages */
}

bool sqlite_log_is_worth_writing(const struct sqlite_log *log)
{
    return log->pages >= WORTH_PAGES;
}

/* Written back, its pages need room in the file: a log must not take the last of the disk. */
static bool has_room(const struct sqlite_log *log)
{
    struct statvfs disk;
    return statvfs(sqlite3_db_filename(log->handle, NULL), &disk) == 0 &&
           disk.f_bavail * disk.f_frsize / PAGE_BYTES >= ROOM_FOR_LOGS * log->pages;
}

bool sqlite_log_is_long(const struct sqlite_log *log)
{
    return log->pages >= LONG_PAGES || (sqlite_log_is_worth_writing(log) && !has_room(log));
}

static void write_back(struct sqlite_log *log, int mode)
{
    int result = sqlite3_wal_checkpoint_v2(log->handle, NULL, mode, NULL, NULL);
    if (result != SQLITE_OK && result != SQLITE_BUSY)
        log_warn("the log cannot be written back into the database file now", LOG_C("reason", sqlite3_errstr(result)));
    log->pages = 0;
}

void sqlite_log_write_back(struct sqlite_log *log)
{
    write_back(log, SQLITE_CHECKPOINT_PASSIVE);
}

bool sqlite_log_make_room(struct sqlite_log *log)
{
    if (log->pages == 0)
        return false;
    write_back(log, SQLITE_CHECKPOINT_RESTART);
    return true;
}
