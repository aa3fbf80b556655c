#include "db/postgres_connection.h"

#include "base/clock.h"
#include "base/log.h"
#include "db/postgres_servers.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum {
    GRACE_MS = 200, /* the server ends a statement at its timeout; we do this much later */
    IDLE_MS = 1000, /* between two statements of a transaction: far more than any unit computes */
    SLOW_MS = 300,  /* after this long we ask whether the server answers anybody */
    PROBE_MS = 500,
};

void postgres_connection_init(struct postgres_connection *connection, const struct postgres_server *server,
                              const struct db_adapter *adapter)
{
    *connection = (struct postgres_connection){.server = server};
    tx_init(&connection->tx, adapter, false);
}

void postgres_connection_free(struct postgres_connection *connection)
{
    postgres_connection_drop(connection);
    tx_free(&connection->tx);
}

void postgres_connection_drop(struct postgres_connection *connection)
{
    postgres_end_rows(&connection->tx);
    statement_cache_clear(&connection->statements, NULL);
    PQfinish(connection->handle);
    connection->handle = NULL;
    connection->owed = 0;
    connection->begun = connection->dismissed = false;
}

static int ms_left(int64_t until_ns)
{
    int64_t left = until_ns - clock_mono_ns();
    return left <= 0 ? 0 : (int)(left / NS_PER_MS) + 1;
}

/* True when the socket is ready for one of the events. */
static bool poll_until(PGconn *handle, short events, int64_t until_ns)
{
    struct pollfd socket = {.fd = PQsocket(handle), .events = events};
    for (;;) {
        int ready = poll(&socket, 1, ms_left(until_ns));
        if (ready > 0)
            return true;
        if (ready == 0 ? clock_mono_ns() >= until_ns : errno != EINTR)
            return false;
    }
}

/* PGRES_POLLING_OK, _FAILED, or something else when the time was up. */
static PostgresPollingStatusType connect_until(PGconn *handle, int64_t until_ns)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    if (PQstatus(handle) == CONNECTION_BAD)
        return PGRES_POLLING_FAILED;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        if (!poll_until(handle, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_ns))
            break;
        status = PQconnectPoll(handle);
    }
    return status;
}

/*
 * A statement that takes long may be slow, or the server may have stopped or have
 * been cut off; waiting for the statement's timeout would be too long then. A new
 * connection tells: only when that gets no answer either, the server is frozen.
 * (One that is refused is an answer, and a dead server closes our socket.)
 */
static bool server_answers(struct postgres_connection *connection)
{
    const char *address = PQhostaddr(connection->handle);
    bool numeric = address && *address; /* no name lookup: that could block */
    const char *const keys[] = {"dbname", "host", "port", numeric ? "hostaddr" : NULL, NULL};
    const char *const values[] = {connection->server->url, PQhost(connection->handle), PQport(connection->handle),
                                  address, NULL};
    PGconn *probe = PQconnectStartParams(keys, values, 1);
    PostgresPollingStatusType status = connect_until(probe, clock_mono_ns() + PROBE_MS * NS_PER_MS);
    PQfinish(probe);
    return status == PGRES_POLLING_OK || status == PGRES_POLLING_FAILED;
}

/* Waits for the answer to what was sent last, at most until answer_by_ns. */
static bool wait_for_socket(struct postgres_connection *connection, short events)
{
    for (;;) {
        int64_t look = clock_mono_ns() + SLOW_MS * NS_PER_MS;
        int64_t until = look < connection->answer_by_ns ? look : connection->answer_by_ns;
        if (poll_until(connection->handle, events, until))
            return true;
        if (clock_mono_ns() >= connection->answer_by_ns) {
            log_error("the database did not answer in time", LOG_C("service", connection->server->service));
            return false;
        }
        if (!server_answers(connection) && !poll_until(connection->handle, events, 0)) {
            log_error("the database server is frozen or cut off", LOG_C("service", connection->server->service));
            connection->frozen = true;
            return false;
        }
    }
}

bool postgres_send_prepared(struct postgres_connection *connection, const char *name)
{
    return PQsendQueryPrepared(connection->handle, name, 0, NULL, NULL, NULL, 0) == 1;
}

bool postgres_send_sync(struct postgres_connection *connection)
{
    connection->answer_by_ns = clock_mono_ns() + (connection->server->statement_timeout_ms + GRACE_MS) * NS_PER_MS;
    if (!PQpipelineSync(connection->handle))
        return false;
    int left;
    while ((left = PQflush(connection->handle)) == 1) {
        if (!wait_for_socket(connection, POLLIN | POLLOUT) || !PQconsumeInput(connection->handle))
            return false;
    }
    return left == 0;
}

static bool wait_for_result(struct postgres_connection *connection)
{
    while (PQisBusy(connection->handle))
        if (!wait_for_socket(connection, POLLIN) || !PQconsumeInput(connection->handle))
            return false;
    return true;
}

PGresult *postgres_next_result(struct postgres_connection *connection)
{
    while (connection->handle && wait_for_result(connection)) {
        PGresult *result = PQgetResult(connection->handle);
        bool end = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        if (result && !end && !connection->owed)
            return result;
        PQclear(result);
        if (end && !connection->owed)
            return NULL;
        if (end)
            connection->owed--;
        else if (!result && PQstatus(connection->handle) == CONNECTION_BAD)
            break;
    }
    postgres_connection_drop(connection);
    return NULL;
}

bool postgres_connection_stands(struct postgres_connection *connection)
{
    /* A server's last words come before the end of the stream, perhaps some time before: read until there is nothing to
     * read, and listen. */
    while (connection->handle && poll_until(connection->handle, POLLIN, 0)) {
        bool read = PQconsumeInput(connection->handle);
        PQisBusy(connection->handle); /* tells on_notice of what has come */
        if (!read || connection->dismissed || PQstatus(connection->handle) == CONNECTION_BAD)
            postgres_connection_drop(connection);
    }
    return connection->handle != NULL;
}

/* Warnings are not for us. What ends an idle connection comes as a notice, too: nobody has asked for it. */
static void on_notice(void *context, const PGresult *result)
{
    struct postgres_connection *connection = context;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    if (severity && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0))
        connection->dismissed = true;
}

/* The role limits the session to its service. A server-side limit on idle transactions lets go of our locks
 * when this process is stopped or cut off in the middle of one: every other server waits for them. A commit must be on
 * disk when it is acknowledged. */
static const char session_settings[] =
    "SELECT set_config('role', $1, false), set_config('search_path', $1, false),"
    " set_config('statement_timeout', $2, false), set_config('idle_in_transaction_session_timeout', $3, false),"
    " set_config('TimeZone', 'UTC', false),"
    " CASE WHEN $4::int <> 0 THEN pg_try_advisory_lock_shared(" POSTGRES_SERVERS_CLASS
    ", $4::int) END, CASE WHEN current_setting('synchronous_commit') = 'off'"
    " THEN set_config('synchronous_commit', 'on', false) END";

static bool send_session_settings(struct postgres_connection *connection)
{
    const struct postgres_server *server = connection->server;
    char timeout[24], idle[24], id[24];
    snprintf(timeout, sizeof(timeout), "%" PRId64, server->statement_timeout_ms);
    snprintf(idle, sizeof(idle), "%" PRId64, server->statement_timeout_ms + IDLE_MS);
    snprintf(id, sizeof(id), "%" PRId32, server->server_id);
    const char *const values[] = {server->service, timeout, idle, id};
    PGconn *handle = connection->handle;
    return PQsendQueryParams(handle, session_settings, 4, NULL, values, NULL, NULL, 0) &&
           PQsendPrepare(handle, "begin", "BEGIN", 0, NULL) &&
           PQsendPrepare(handle, "begin_read", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL) &&
           PQsendPrepare(handle, "commit", "COMMIT", 0, NULL) &&
           PQsendPrepare(handle, "rollback", "ROLLBACK", 0, NULL) && postgres_send_sync(connection);
}

static const char *begin_session(struct postgres_connection *connection)
{
    const char *trouble = NULL;
    PGresult *result;
    if (!send_session_settings(connection))
        return "the connection was lost";
    while ((result = postgres_next_result(connection))) {
        if (PQresultStatus(result) == PGRES_FATAL_ERROR && !trouble) {
            log_warn("cannot begin a database session", LOG_C("service", connection->server->service),
                     LOG_C("reason", PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
            trouble = "the service's role cannot be used: run tickettock migrate";
        }
        PQclear(result);
    }
    return connection->handle ? trouble : "the connection was lost";
}

const char *postgres_connection_open(struct postgres_connection *connection, int64_t within_ms)
{
    postgres_connection_drop(connection);
    connection->frozen = false;
    const char *const keys[] = {"dbname", "fallback_application_name", "client_encoding", NULL};
    const char *const values[] = {connection->server->url, "tickettock", "UTF8", NULL};
    connection->handle = PQconnectStartParams(keys, values, 1);
    const char *trouble = NULL;
    switch (connect_until(connection->handle, clock_mono_ns() + within_ms * NS_PER_MS)) {
    case PGRES_POLLING_OK: break;
    case PGRES_POLLING_FAILED: trouble = "the server refuses connections"; break;
    default: trouble = "the server does not answer"; break;
    }
    if (!trouble) {
        PQsetnonblocking(connection->handle, 1);
        PQsetNoticeReceiver(connection->handle, on_notice, connection);
        PQenterPipelineMode(connection->handle);
        trouble = begin_session(connection);
    } else {
        log_debug("cannot connect", LOG_C("reason", PQerrorMessage(connection->handle)));
    }
    if (trouble)
        postgres_connection_drop(connection);
    return trouble;
}
