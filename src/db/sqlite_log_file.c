#include "db/sqlite_log_file.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GATHERED_MAX = 124 * 1024 }; /* SQLite's own files take less than 128 KiB at once */

/* As SQLite sees the log; the system's file is right behind it. */
struct log_file {
    sqlite3_file base; /* first */
    char *gathered;    /* for `offset` and after, not yet written */
    int length;
    sqlite3_int64 offset;
};

const char sqlite_log_file_system[] = "tickettock";
static sqlite3_vfs *theirs, ours;

static sqlite3_file *real(sqlite3_file *file)
{
    return (sqlite3_file *)((struct log_file *)file + 1);
}

/* What cannot be written is forgotten: SQLite gives a transaction up when writing or syncing its pages has failed. */
static int write_gathered(sqlite3_file *file)
{
    struct log_file *log = (struct log_file *)file;
    int length = log->length;
    log->length = 0;
    return length == 0 ? SQLITE_OK : real(file)->pMethods->xWrite(real(file), log->gathered, length, log->offset);
}

static int log_write(sqlite3_file *file, const void *data, int length, sqlite3_int64 offset)
{
    struct log_file *log = (struct log_file *)file;
    if (offset != log->offset + log->length || length > GATHERED_MAX - log->length) {
        int result = write_gathered(file);
        if (result != SQLITE_OK)
            return result;
        log->offset = offset;
    }
    if (length > GATHERED_MAX)
        return real(file)->pMethods->xWrite(real(file), data, length, offset);
    memcpy(log->gathered + log->length, data, (size_t)length);
    log->length += length;
    return SQLITE_OK;
}

static int log_sync(sqlite3_file *file, int flags)
{
    int result = write_gathered(file);
    return result != SQLITE_OK ? result : real(file)->pMethods->xSync(real(file), flags);
}

/* A page that did not fit into SQLite's memory may come back out of ours. It is not written for that: a failure would
 * be the reader's alone, and SQLite would go on with a transaction whose other pages are lost. */
static int log_read(sqlite3_file *file, void *data, int length, sqlite3_int64 offset)
{
    struct log_file *log = (struct log_file *)file;
    sqlite3_int64 end = log->offset + log->length;
    if (offset >= log->offset && offset + length <= end) {
        memcpy(data, log->gathered + (offset - log->offset), (size_t)length);
        return SQLITE_OK;
    }
    bool overlaps = offset < end && offset + length > log->offset; /* when a commit looks through all its pages again */
    int result = overlaps ? write_gathered(file) : SQLITE_OK;
    return result != SQLITE_OK ? result : real(file)->pMethods->xRead(real(file), data, length, offset);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int result = write_gathered(file);
    return result != SQLITE_OK ? result : real(file)->pMethods->xTruncate(real(file), size);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int result = write_gathered(file);
    return result != SQLITE_OK ? result : real(file)->pMethods->xFileSize(real(file), size);
}

/* What is still gathered belongs to a transaction that was never committed. */
static int log_close(sqlite3_file *file)
{
    free(((struct log_file *)file)->gathered);
    return real(file)->pMethods->xClose(real(file));
}

static int log_lock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int log_is_reserved(sqlite3_file *file, int *reserved)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), reserved);
}

static int log_control(sqlite3_file *file, int operation, void *argument)
{
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int log_sector_size(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int log_properties(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_properties,
};

static int open_log(const char *path, sqlite3_file *file, int flags, int *flags_used)
{
    struct log_file *log = (struct log_file *)file;
    *log = (struct log_file){.gathered = malloc(GATHERED_MAX)};
    int result = log->gathered ? theirs->xOpen(theirs, path, real(file), flags, flags_used) : SQLITE_NOMEM;
    if (result == SQLITE_OK)
        file->pMethods = &methods; /* without them, SQLite does not close it */
    else
        free(log->gathered);
    return result;
}

static int open_file(sqlite3_vfs *system, const char *path, sqlite3_file *file, int flags, int *flags_used)
{
    (void)system;
    return flags & SQLITE_OPEN_WAL ? open_log(path, file, flags, flags_used)
                                   : theirs->xOpen(theirs, path, file, flags, flags_used);
}

void sqlite_log_file_prepare(void)
{
    theirs = sqlite3_vfs_find(NULL);
    ours = *theirs;
    ours.zName = sqlite_log_file_system;
    ours.szOsFile += (int)sizeof(struct log_file);
    ours.xOpen = open_file;
    sqlite3_vfs_register(&ours, 0);
}
