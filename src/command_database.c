#include "command_database.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { STATEMENT_TIMEOUT_MS = 20000, CONNECTIONS = 2, QUEUE = 16 };

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
