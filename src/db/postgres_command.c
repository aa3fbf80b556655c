#include "db/postgres_command.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

bool postgres_command_open(struct postgres_command *command, const char *url, const char *name)
{
    *command = (struct postgres_command){0};
    const char *const keys[] = {"dbname", "connect_timeout", "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {url, "5", "UTF8", name, NULL};
    command->handle = PQconnectdbParams(keys, values, 1);
    PQsetNoticeReceiver(command->handle, ignore_notice, NULL);
    if (PQstatus(command->handle) == CONNECTION_OK)
        return true;
    log_error("cannot connect to the database", LOG_C("reason", PQerrorMessage(command->handle)));
    return false;
}

void postgres_command_close(struct postgres_command *command)
{
    PQfinish(command->handle);
    command->handle = NULL;
}

bool postgres_command_take(struct postgres_command *command, const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY ||
                status == PGRES_COPY_OUT || status == PGRES_COPY_IN;
    command->state[0] = command->reason[0] = '\0';
    if (!done) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *reason = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        snprintf(command->state, sizeof(command->state), "%s", state ? state : "");
        snprintf(command->reason, sizeof(command->reason), "%s", reason ? reason : PQerrorMessage(command->handle));
    }
    return done;
}

bool postgres_command_run(struct postgres_command *command, const char *format, ...)
{
    char sql[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(sql))
        return false;
    PGresult *result = PQexec(command->handle, sql);
    bool done = postgres_command_take(command, result);
    PQclear(result);
    return done;
}

bool postgres_command_exists(struct postgres_command *command, const char *query, const char *value)
{
    PGresult *result = PQexecParams(command->handle, query, 1, NULL, &value, NULL, NULL, 0);
    bool found = postgres_command_take(command, result) && PQntuples(result) > 0;
    PQclear(result);
    return found;
}

bool postgres_command_become(struct postgres_command *command, const char *service)
{
    return postgres_command_run(command, "SET LOCAL ROLE %s; SET LOCAL search_path = %s", service, service);
}
