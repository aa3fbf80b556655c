/*
 * A unit as a PostgreSQL transaction. BEGIN travels with the first statement, and
 * nobody waits for the end of a transaction that only read or was rolled back; so
 * a writing unit costs a round trip per statement and one for its COMMIT, which a
 * unit can save by saying which statement is its last (tx_exec_last).
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "db/postgres_connection.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_RUNS = 5, FIRST_PAUSE_US = 2000 };

/* Once COMMIT is under way, only an answer tells what has become of it. */
static enum db_outcome outcome_of_loss(const struct postgres_connection *connection)
{
    if (!connection->committing)
        return DB_UNAVAILABLE;
    log_error("the connection broke during a commit", LOG_C("service", connection->server->service));
    return DB_UNCERTAIN;
}

static bool lost(struct postgres_connection *connection)
{
    postgres_connection_drop(connection);
    if (connection->tx.error == DB_OK)
        tx_fail(&connection->tx, outcome_of_loss(connection), NULL);
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
    if (outcome == DB_UNAVAILABLE) /* a server that is going down may have committed */
        outcome = outcome_of_loss(connection);
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

/* BEGIN when it is the first, PREPARE when it is new here, the statement itself: all in one round trip. */
static bool send_statement(struct postgres_connection *connection, const char *text,
                           const struct cached_statement *slot, const struct postgres_params *p)
{
    char name[24];
    PGconn *handle = connection->handle;
    if (!connection->begun && !send_begin(connection))
        return false;
    if (!slot)
        return PQsendQueryParams(handle, text, p->count, p->types, p->values, p->lengths, p->formats, 0);
    snprintf(name, sizeof(name), "s%zu", (size_t)(slot - connection->statements.slots));
    if (!slot->prepared && !PQsendPrepare(handle, name, text, p->count, p->types))
        return false;
    return PQsendQueryPrepared(handle, name, p->count, p->values, p->lengths, p->formats, 0);
}

static bool send_commit(struct postgres_connection *connection)
{
    connection->committing = true;
    return postgres_send_prepared(connection, "commit");
}

/* After the results of `commands` comes that of COMMIT, if it was sent. Of the others the last is the statement's own,
 * and stays. How many commands were done. */
static size_t receive(struct postgres_connection *connection, const char *text, size_t commands)
{
    PGresult *result;
    size_t done = 0;
    while ((result = postgres_next_result(connection))) {
        ExecStatusType status = PQresultStatus(result);
        bool good = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, of_commit = done == commands;
        if (of_commit)
            connection->begun = false;
        if (good && of_commit && strcmp(PQcmdStatus(result), "COMMIT") != 0)
            lost(connection);
        if (!good && status != PGRES_PIPELINE_ABORTED) {
            connection->committing &= of_commit;
            take_error(connection, result, text);
        }
        done += good;
        if (good && !of_commit) {
            clear_result(&connection->result);
            connection->result = result;
        } else {
            PQclear(result);
        }
    }
    if (!connection->handle)
        lost(connection);
    connection->committing = false;
    return done;
}

static int64_t count_changes(PGresult *result)
{
    int64_t changes = 0;
    if (strncmp(PQcmdStatus(result), "SELECT", 6) != 0)
        str_to_int64(str_from(PQcmdTuples(result)), &changes);
    return changes;
}

bool postgres_execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                      enum tx_purpose purpose)
{
    struct postgres_connection *connection = (struct postgres_connection *)tx;
    const char *text = statement_text(tx, statement);
    struct postgres_params own;
    postgres_params_make(&own, &tx->arena, params, count);
    struct cached_statement *slot = statement_cache_find(&connection->statements, statement, text);
    size_t commands = 1 + (size_t)!connection->begun + (slot && !slot->prepared);
    if (!send_statement(connection, text, slot, &own) || (purpose == TX_LAST && !send_commit(connection)) ||
        !postgres_send_sync(connection))
        return lost(connection);
    size_t done = receive(connection, text, commands);
    if (slot && connection->handle && done + 1 >= commands)
        slot->prepared = slot; /* the server has it under the slot's number */
    if (tx->error != DB_OK)
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

static enum db_outcome commit(struct postgres_connection *connection)
{
    if (send_commit(connection) && postgres_send_sync(connection))
        receive(connection, "COMMIT", 0);
    else
        lost(connection);
    return connection->tx.error;
}

static enum db_outcome run_once(struct postgres_connection *connection, struct db_job *job)
{
    connection->conflict = connection->stale = connection->committing = false;
    enum db_outcome outcome = tx_run(&connection->tx, job);
    if (!connection->begun)
        return outcome; /* no statement was run, the last one has ended it, or the connection is lost */
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
        if (connection->stale || outcome == DB_UNAVAILABLE || outcome == DB_UNCERTAIN)
            postgres_connection_drop(connection);
        if ((!connection->conflict && !stale) || run == MAX_RUNS)
            return outcome;
        if (!connection->handle && postgres_connection_open(connection, POSTGRES_CONNECT_MS))
            return DB_UNAVAILABLE;
        usleep((useconds_t)random_below(pause) + 1);
        pause *= 2;
    }
}
