#include "db/sqlite_log.h"

#include "base/log.h"

enum { WORTH_PAGES = 1000, LONG_PAGES = 65536 }; /* 4 MiB and 256 MiB */

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

bool sqlite_log_is_long(const struct sqlite_log *log)
{
    return log->pages >= LONG_PAGES;
}

void sqlite_log_write_back(struct sqlite_log *log)
{
    int result = sqlite3_wal_checkpoint_v2(log->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (result != SQLITE_OK && result != SQLITE_BUSY)
        log_warn("the log cannot be written back into the database file now", LOG_C("reason", sqlite3_errstr(result)));
    log->pages = 0;
}
