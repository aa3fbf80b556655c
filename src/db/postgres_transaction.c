/*
 * A unit as a PostgreSQL transaction. BEGIN travels with the first statement, and
 * nobody waits for the end of a transaction that only read or was rolled back; so
 * a writing unit costs a round trip per statement and one for its COMMIT.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "db/postgres_connection.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_RUNS = 5, FIRST_PAUSE_US = 2000 };

static bool lost(struct postgres_connection *connection)
{
    postgres_connection_drop(connection);
    tx_fail(&connection->tx, DB_UNAVAILABLE, NULL);
    return false;
}

static bool in_class(const char *state, const char *class)
{
    return strncmp(state, class, 2) == 0;
}

static enum db_outcome outcome_of(const char *state, bool read_only)
{
    if (in_class(state, "23"))
        return DB_CONSTRAINT;
    if (in_class(state, "40") || strcmp(state, "57014") == 0 || strcmp(state, "55P03") == 0)
        return DB_BUSY; /* a conflict, out of time, no lock */
    if (in_class(state, "08") || in_class(state, "53") || in_class(state, "57") || in_class(state, "58"))
        return DB_UNAVAILABLE;
    if (strcmp(state, "25006") == 0 && !read_only)
        return DB_UNAVAILABLE; /* the server has become a standby */
    return DB_ERROR;
}

/* PostgreSQL names no constraint for NOT NULL before version 18, whose name this is. */
static void name_constraint(const PGresult *error, char *name, size_t size)
{
    const char *constraint = PQresultErrorField(error, PG_DIAG_CONSTRAINT_NAME);
    const char *table = PQresultErrorField(error, PG_DIAG_TABLE_NAME);
    const char *column = PQresultErrorField(error, PG_DIAG_COLUMN_NAME);
    if (constraint)
        snprintf(name, size, "%s", constraint);
    else if (table && column)
        snprintf(name, size, "%s_%s_not_null", table, column);
}

static void take_error(struct postgres_connection *connection, const PGresult *error, const char *text)
{
    const char *state = PQresultErrorField(error, PG_DIAG_SQLSTATE);
    if (!state) { /* libpq's own: the connection is gone */
        lost(connection);
        return;
    }
    char constraint[sizeof(connection->tx.failure.constraint)] = "";
    enum db_outcome outcome = outcome_of(state, connection->tx.read_only);
    connection->stale = strcmp(state, "26000") == 0 || strcmp(state, "0A000") == 0;
    connection->conflict = in_class(state, "40");
    if (outcome == DB_CONSTRAINT)
        name_constraint(error, constraint, sizeof(constraint));
    else if (!connection->conflict)
        log_error("statement failed", LOG_C("state", state),
                  LOG_C("reason", PQresultErrorField(error, PG_DIAG_MESSAGE_PRIMARY)), LOG_C("sql", text));
    tx_fail(&connection->tx, outcome, constraint);
}

static void clear_result(PGresult **result)
{
    PQclear(*result);
    *result = NULL;
}

static bool send_begin(struct postgres_connection *connection)
{
    connection->begun = true;
    return postgres_send_prepared(connection, connection->tx.read_only ? "begin_read" : "begin");
}

/* BEGIN when it is the first, PREPARE when it is new here, the statement itself: one round trip. */
static bool send_statement(struct postgres_connection *connection, const char *text,
                           const struct cached_statement *slot, const struct postgres_params *p)
{
    char name[24];
    PGconn *handle = connection->handle;
    if (!connection->begun && !send_begin(connection))
        return false;
    if (!slot)
        return PQsendQueryParams(handle, text, p->count, p->types, p->values, p->lengths, p->formats, 0) &&
               postgres_send_sync(connection);
    snprintf(name, sizeof(name), "s%zu", (size_t)(slot - connection->statements.slots));
    if (!slot->prepared && !PQsendPrepare(handle, name, text, p->count, p->types))
        return false;
    return PQsendQueryPrepared(handle, name, p->count, p->values, p->lengths, p->formats, 0) &&
           postgres_send_sync(connection);
}

/* The last result is the statement's own; the one before it, that of PREPARE, if there was one. */
static bool receive_statement(struct postgres_connection *connection, const char *text, struct cached_statement *slot,
                              size_t commands)
{
    PGresult *result;
    size_t done = 0;
    while ((result = postgres_next_result(connection))) {
        clear_result(&connection->result);
        ExecStatusType status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            connection->result = result;
            done++;
            continue;
        }
        if (status != PGRES_PIPELINE_ABORTED)
            take_error(connection, result, text);
        PQclear(result);
    }
    if (!connection->handle)
        return lost(connection);
    if (slot && done + 1 >= commands)
        slot->prepared = slot; /* the server has it under the slot's number */
    return connection->tx.error == DB_OK;
}

static int64_t count_changes(PGresult *result)
{
    int64_t changes = 0;
    if (strncmp(PQcmdStatus(result), "SELECT", 6) != 0)
        str_to_int64(str_from(PQcmdTuples(result)), &changes);
    return changes;
}

bool postgres_execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                      bool keep)
{
    (void)keep;
    struct postgres_connection *connection = (struct postgres_connection *)tx;
    const char *text = statement_text(tx, statement);
    struct postgres_params own;
    postgres_params_make(&own, &tx->arena, params, count);
    struct cached_statement *slot = statement_cache_find(&connection->statements, statement, text);
    size_t commands = 1 + (size_t)!connection->begun + (slot && !slot->prepared);
    if (!send_statement(connection, text, slot, &own))
        return lost(connection);
    if (!receive_statement(connection, text, slot, commands))
        return false;
    tx->changes = count_changes(connection->result);
    connection->row = -1;
    return true;
}

bool postgres_next_row(struct tx *tx)
{
    struct postgres_connection *connection = (struct postgres_connection *)tx;
    if (connection->result && ++connection->row < PQntuples(connection->result))
        return true;
    postgres_end_rows(tx);
    return false;
}

void postgres_end_rows(struct tx *tx)
{
    clear_result(&((struct postgres_connection *)tx)->result);
}

size_t postgres_columns(const struct tx *tx)
{
    const PGresult *result = ((const struct postgres_connection *)tx)->result;
    return result ? (size_t)PQnfields(result) : 0;
}

const char *postgres_column_name(const struct tx *tx, size_t column)
{
    return PQfname(((const struct postgres_connection *)tx)->result, (int)column);
}

struct db_value postgres_cell(struct tx *tx, size_t column)
{
    struct postgres_connection *connection = (struct postgres_connection *)tx;
    return postgres_cell_of(&tx->arena, connection->result, connection->row, (int)column);
}

/* Its result is read along with whatever comes next. */
static void end_without_waiting(struct postgres_connection *connection)
{
    connection->begun = false;
    if (postgres_send_prepared(connection, "rollback") && postgres_send_sync(connection))
        connection->owed++;
    else
        postgres_connection_drop(connection);
}

/* Once COMMIT is under way, only an answer tells what has become of it. A server that is going down may have
 * done it. */
static enum db_outcome commit(struct postgres_connection *connection)
{
    bool committed = false;
    connection->begun = false;
    if (postgres_send_prepared(connection, "commit") && postgres_send_sync(connection)) {
        PGresult *result;
        while ((result = postgres_next_result(connection))) {
            committed = PQresultStatus(result) == PGRES_COMMAND_OK && strcmp(PQcmdStatus(result), "COMMIT") == 0;
            if (!committed)
                take_error(connection, result, "COMMIT");
            PQclear(result);
        }
    }
    if (committed)
        return DB_OK;
    if (!connection->handle || connection->tx.error == DB_UNAVAILABLE) {
        postgres_connection_drop(connection);
        log_error("the connection broke during a commit", LOG_C("service", connection->server->service));
        return DB_UNCERTAIN;
    }
    return connection->tx.error;
}

static enum db_outcome run_once(struct postgres_connection *connection, struct db_job *job)
{
    connection->conflict = connection->stale = false;
    enum db_outcome outcome = tx_run(&connection->tx, job);
    if (!connection->begun)
        return outcome; /* no statement was run, or the connection is lost */
    if (outcome == DB_OK && !connection->tx.read_only)
        return commit(connection);
    end_without_waiting(connection);
    return outcome;
}

enum db_outcome postgres_run(struct postgres_connection *connection, struct db_job *job)
{
    useconds_t pause = FIRST_PAUSE_US;
    for (int run = 1;; run++) {
        enum db_outcome outcome = run_once(connection, job);
        job->failure = connection->tx.failure;
        bool stale = connection->stale && run == 1;
        if (connection->stale || outcome == DB_UNAVAILABLE)
            postgres_connection_drop(connection);
        if ((!connection->conflict && !stale) || run == MAX_RUNS)
            return outcome;
        if (!connection->handle && postgres_connection_open(connection, POSTGRES_CONNECT_MS))
            return DB_UNAVAILABLE;
        usleep((useconds_t)random_below(pause) + 1);
        pause *= 2;
    }
}
