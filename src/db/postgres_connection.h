/*
 * One connection to PostgreSQL, used by one thread. libpq runs non-blocking and
 * in pipeline mode all the time, so that nothing waits without a deadline and
 * several commands share a round trip. Private to the PostgreSQL adapter.
 */
#ifndef DB_POSTGRES_CONNECTION_H
#define DB_POSTGRES_CONNECTION_H

#include "db/adapter.h"
#include "db/statement_cache.h"

#include <libpq-fe.h>

/* How the servers of a pool are reached; the same for all its connections. */
struct postgres_server {
    const char *url;
    const char *service;
    int64_t statement_timeout_ms;
    int32_t server_id; /* postgres_servers.h; 0 for a command, which is no server */
};

struct postgres_connection {
    struct tx tx; /* first */
    const struct postgres_server *server;
    PGconn *handle; /* NULL while there is no connection */
    bool dismissed; /* the server has said that it ends the connection */
    bool frozen;    /* it was given up because the server does not answer anybody */
    struct statement_cache statements;
    unsigned owed; /* synchronisation points still to come whose results nobody waits for */

    bool begun;      /* BEGIN has been sent, and the transaction has not ended */
    bool committing; /* COMMIT has been sent, and nothing that was sent before it has failed */
    bool conflict;   /* with another transaction: the unit may run again */
    bool stale;      /* a prepared statement no longer fits the schema: connect anew and run again */
    int64_t answer_by_ns;
    PGresult *result; /* the rows under way */
    int row;
};

enum { POSTGRES_CONNECT_MS = 700, POSTGRES_CONNECT_PATIENT_MS = 3000 };

void postgres_connection_init(struct postgres_connection *connection, const struct postgres_server *server,
                              const struct db_adapter *adapter);
void postgres_connection_free(struct postgres_connection *connection);

/* NULL when it stands, with role, path and limits set; else why not (static). */
const char *postgres_connection_open(struct postgres_connection *connection, int64_t within_ms);
void postgres_connection_drop(struct postgres_connection *connection);

/* Does an idle connection still stand? Without a round trip. */
bool postgres_connection_stands(struct postgres_connection *connection);

/* Sends a parameterless command, such as a prepared "commit". */
bool postgres_send_prepared(struct postgres_connection *connection, const char *name);

/* Ends a group of commands and sends it off. */
bool postgres_send_sync(struct postgres_connection *connection);

/* The next result of the group, NULL at its end or when the connection is lost. */
PGresult *postgres_next_result(struct postgres_connection *connection);

/* postgres_params.c: a statement's parameters in libpq's form, in the arena. */
struct postgres_params {
    int count;
    Oid types[DB_MAX_PARAMS];
    const char *values[DB_MAX_PARAMS];
    int lengths[DB_MAX_PARAMS];
    int formats[DB_MAX_PARAMS];
};
void postgres_params_make(struct postgres_params *out, struct arena *arena, const struct db_value *params,
                          size_t count);
struct db_value postgres_cell_of(struct arena *arena, const PGresult *result, int row, int column);

/* postgres_transaction.c: the adapter's functions for a running unit. */
enum db_outcome postgres_run(struct postgres_connection *connection, struct db_job *job);
bool postgres_execute(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                      enum tx_purpose purpose);
bool postgres_next_row(struct tx *tx);
void postgres_end_rows(struct tx *tx);
size_t postgres_columns(const struct tx *tx);
const char *postgres_column_name(const struct tx *tx, size_t column);
struct db_value postgres_cell(struct tx *tx, size_t column);

#endif
