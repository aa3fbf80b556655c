/* A connection of a command to PostgreSQL: it waits for each answer, in plain blocking style. Private to src/db. */
#ifndef DB_POSTGRES_COMMAND_H
#define DB_POSTGRES_COMMAND_H

#include "base/str.h"

#include <libpq-fe.h>

struct postgres_command {
    PGconn *handle;
    char state[6];    /* SQLSTATE of the last failure, or empty */
    char reason[512]; /* and its words */
};

/* `name` is what the server's list of connections shows. False after logging why; closed in any case by the caller. */
bool postgres_command_open(struct postgres_command *command, const char *url, const char *name);
void postgres_command_close(struct postgres_command *command);

/* False, with state and reason set, when the result is a failure. */
bool postgres_command_take(struct postgres_command *command, const PGresult *result);

/* Names that go into the text have been checked (db_service_name_is_sound) or are quoted. */
__attribute__((format(printf, 2, 3))) bool postgres_command_run(struct postgres_command *command, const char *format,
                                                                ...);

/* True when the query with $1 = value gives a row. */
bool postgres_command_exists(struct postgres_command *command, const char *query, const char *value);

/* From now on the transaction that is under way has the service's role and sees its schema. */
bool postgres_command_become(struct postgres_command *command, const char *service);

#endif
