/*
 * When SQLite's write-ahead log is written back into its file. SQLite itself would do it every thousand pages: during a
 * rush several times a second, each time with two more syncs, while everybody waits. Here it waits for a quiet moment,
 * or until the log is long, by itself or for the room that the disk has left. Private to the SQLite adapter; used by
 * the thread that writes, on its connection.
 */
#ifndef DB_SQLITE_LOG_H
#define DB_SQLITE_LOG_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

enum { SQLITE_LOG_QUIET_MS = 100 };

struct sqlite_log {
    sqlite3 *handle;
    size_t pages; /* since it was last written back */
};

/* The log of this connection's file is ours to write back from now on. It must stay where it is. */
void sqlite_log_own(struct sqlite_log *log, sqlite3 *handle);

/* There is enough in it to use the next quiet moment. */
bool sqlite_log_is_worth_writing(const struct sqlite_log *log);

/* It must not become longer. */
bool sqlite_log_is_long(const struct sqlite_log *log);

/* What readers still need stays for the next time. */
void sqlite_log_write_back(struct sqlite_log *log);

/* Writes it back and waits for its readers, so that the next commit begins it anew, in room that it has already. False
 * when there is nothing in it that could be written back. */
bool sqlite_log_make_room(struct sqlite_log *log);

#endif
