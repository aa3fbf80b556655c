/* One process at a time may use a service's SQLite file: a lock on a file beside it, gone with the process. */
#ifndef DB_FOLDER_LOCK_H
#define DB_FOLDER_LOCK_H

#include <stdint.h>

/* Creates the folder when it is missing. Waits up to wait_ms for whoever has the lock. Returns a file
 * descriptor, whose closing gives the lock back, or -1 with a logged reason. */
int folder_lock(const char *directory, const char *service, int64_t wait_ms);

#endif
