/*
 * SQLite's write-ahead log, written with one call per commit. SQLite itself makes two for each page, though they all go
 * right behind each other; here they are put together until it syncs the log.
 *
 * Only for connections that sync at each commit (PRAGMA synchronous = FULL): then SQLite tells nobody of a page before
 * it has been synced, and so written. Private to the SQLite adapter.
 */
#ifndef DB_SQLITE_LOG_FILE_H
#define DB_SQLITE_LOG_FILE_H

/* Once, before the first connection is opened. */
void sqlite_log_file_prepare(void);

/* The name of the file system for sqlite3_open_v2: the system's own in everything but the log. */
extern const char sqlite_log_file_system[];

#endif
