/*
 * Between the port (db.c, tx.c, batch.c) and its adapters; private to src/db.
 *
 * Tasks put jobs into queues; an adapter's threads take them, run each job's unit
 * in a transaction of their connection, set its outcome and call its `finish`,
 * which hands the waiting tasks over to be woken.
 */
#ifndef DB_ADAPTER_H
#define DB_ADAPTER_H

#include "db/db.h"
#include "task/queue.h"
#include "task/task.h"

#include <setjmp.h>
#include <stdatomic.h>

enum { DB_MAX_PARAMS = 64, DB_MAX_CONNECTIONS = 128 };

struct db_job {
    struct job job; /* first: queue_take returns it */
    db_unit *unit;
    void *argument;
    bool read_only;
    struct str trace; /* of the waiting task, for the log */
    enum db_outcome outcome;
    struct db_failure failure;
    bool settled; /* the adapter's own: the outcome stands, whatever becomes of the others */

    /* On the worker's thread, when the outcome is known. The job may be gone or queued again after it. */
    void (*finish)(struct db_job *job, struct wakeup_batch *wakeups);
};

struct rows {
    struct tx *tx;
    size_t guess; /* the column asked for next, most likely */
};

/* A connection's transaction; the adapter's connection begins with it. */
struct tx {
    const struct db_adapter *adapter;
    bool read_only;
    bool over;             /* the unit's last statement has been run */
    enum db_outcome error; /* DB_OK until something fails; then it sticks */
    struct db_failure failure;
    int64_t changes;
    struct rows rows;
    struct arena arena;
    jmp_buf out_of_memory;
};

enum tx_purpose {
    TX_EXEC,  /* rows are dropped */
    TX_LAST,  /* the same, and the unit ends with it: it may be committed at once */
    TX_QUERY, /* rows are read after the call, when the caller's parameters may be gone */
};

struct db_adapter {
    bool is_postgres;
    void (*close)(struct db *db);
    const char *(*trouble)(struct db *db);

    /* Runs a statement up to its first row. False after tx_fail. */
    bool (*execute)(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count,
                    enum tx_purpose purpose);
    bool (*next_row)(struct tx *tx);
    void (*end_rows)(struct tx *tx); /* drops the rows that are left; nothing when there are none */
    size_t (*columns)(const struct tx *tx);
    const char *(*column_name)(const struct tx *tx, size_t column);

    /* NULL, INT, BOOL, TEXT or BYTES; the bytes stay until the next row. */
    struct db_value (*cell)(struct tx *tx, size_t column);
};

struct db {
    const struct db_adapter *adapter;
    struct queue writes, reads;
    struct queue *read_queue; /* reads, or writes when the same threads do both */
    atomic_bool down;         /* nobody can take jobs now: they fail at once instead of waiting */
};

/* For the adapters' constructors; NULL with a logged reason. */
struct db *sqlite_open(const struct db_settings *settings);
struct db *postgres_open(const struct db_settings *settings);

void db_init(struct db *db, const struct db_adapter *adapter, size_t max_waiting);

/* Queues; fails at once what nobody would take. */
bool db_submit(struct db *db, struct queue *queue, struct db_job *job);
void db_submit_always(struct db *db, struct queue *queue, struct db_job *job);

/* Ends everything that waits with DB_UNAVAILABLE. Any thread. */
void db_fail_waiting(struct db *db);

/* Service names become file, role and schema names: [a-z][a-z0-9_]*, at most 48. */
bool db_service_name_is_sound(const char *service);

void tx_init(struct tx *tx, const struct db_adapter *adapter, bool read_only);
void tx_free(struct tx *tx);

/* Runs the job's unit in tx; DB_OK means that it wants to be committed. */
enum db_outcome tx_run(struct tx *tx, struct db_job *job);

/* The first failure counts. `constraint` may be NULL. */
void tx_fail(struct tx *tx, enum db_outcome outcome, const char *constraint);

/* The statement's text in the adapter's dialect. */
const char *statement_text(const struct tx *tx, const struct statement *statement);

#endif
