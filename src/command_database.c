#include "command_database.h"

#include "task/task.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { STATEMENT_TIMEOUT_MS = 20000, CONNECTIONS = 2, QUEUE = 16, ATTEMPTS = 10, PAUSE_MS = 500 };

struct db *command_open_database(const struct settings *settings, const char *service)
{
    return db_open(&(struct db_settings){
        .service = service,
        .url = settings->database_url.len ? settings->database_url.ptr : NULL,
        .directory = settings->data_dir.ptr,
        .connections = CONNECTIONS,
        .max_waiting = QUEUE,
        .statement_timeout_ms = STATEMENT_TIMEOUT_MS,
        .guest = true,
    });
}

bool command_has_database(const struct settings *settings, const char *service)
{
    char path[PATH_MAX];
    if (settings->database_url.len)
        return true;
    int length = snprintf(path, sizeof(path), "%s/%s.db", settings->data_dir.ptr, service);
    return (size_t)length < sizeof(path) && access(path, F_OK) == 0;
}

enum db_outcome command_run_unit(struct db *db, bool writes, db_unit *unit, void *argument)
{
    for (int attempt = 1;; attempt++) {
        enum db_outcome outcome = writes ? db_write(db, unit, argument, NULL) : db_read(db, unit, argument);
        switch (outcome) {
        case DB_OK:
        case DB_ROLLED_BACK:
        case DB_CONSTRAINT:
        case DB_ERROR: return outcome;
        case DB_BUSY:
        case DB_DEADLINE:
        case DB_UNAVAILABLE:
        case DB_UNCERTAIN:
            if (attempt == ATTEMPTS)
                return outcome;
            task_sleep(PAUSE_MS);
        }
    }
}
