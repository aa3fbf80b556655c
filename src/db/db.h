/*
 * The database port: units of work over SQLite or PostgreSQL.
 *
 * A unit is a function that runs on a database thread in plain blocking style.
 * It either commits as a whole or leaves nothing behind; when db_write returns
 * DB_OK to the task, the unit is on disk. A unit may be run again after a
 * serialization failure, so it must start from its argument each time and have
 * no effects besides the database and its argument.
 *
 *     static bool insert_user(struct tx *tx, void *argument)
 *     {
 *         struct user *user = argument;
 *         return tx_exec(tx, &INSERT_USER, DB_PARAMS(DB_UUID(user->id), DB_TEXT(user->name)));
 *     }
 *     …
 *     switch (db_write(db, insert_user, &user, &failure)) …
 *
 * Errors stick: after a statement has failed, the others of the unit do nothing
 * and the unit rolls back, so a unit may run several statements and look once.
 *
 * SQLite runs writing units one after the other; PostgreSQL runs them side by side
 * at READ COMMITTED. So what must hold is said by the statement or a constraint
 * (UPDATE … WHERE it is still free), not by reading first and writing then. A
 * reading unit sees one state of the database throughout.
 *
 * Only the adapters (sqlite.c, postgres.c) know the libraries. One struct db is
 * one service's data: an SQLite file, or a schema and role in PostgreSQL.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "base/arena.h"
#include "base/str.h"
#include "base/uuid.h"

struct db;
struct tx;
struct rows;

enum db_outcome {
    DB_OK,
    DB_ROLLED_BACK, /* the unit returned false by its own will */
    DB_CONSTRAINT,  /* a constraint forbade it; db_failure names it */
    DB_BUSY,        /* the queue is full, a statement ran out of time, or conflicts went on: 503, try again */
    DB_DEADLINE,    /* the task's deadline passed before the unit began */
    DB_UNAVAILABLE, /* the database cannot be reached or cannot write (connection, disk full) */
    DB_UNCERTAIN,   /* the connection broke during COMMIT: it may or may not have happened */
    DB_ERROR,       /* a statement is wrong; logged */
};

struct db_failure {
    /* The constraint's or unique index's name, the same from both databases: as declared, or <table>_pkey,
     * <table>_<column>_not_null. Empty when the database does not tell (SQLite's foreign keys). */
    char constraint[64];
};

/* True commits, false rolls back. */
typedef bool db_unit(struct tx *tx, void *argument);

/* From a task; both wait. `failure` may be NULL. db_read runs on a reader and must not write. */
__attribute__((warn_unused_result)) enum db_outcome db_write(struct db *db, db_unit *unit, void *argument,
                                                             struct db_failure *failure);
__attribute__((warn_unused_result)) enum db_outcome db_read(struct db *db, db_unit *unit, void *argument);

/*
 * Batched operations: items of many tasks travel in one unit. `run` gets every
 * item that was waiting, in the order of arrival, and sets each item's own
 * result; all of them are durable, or none is. One batch of a kind is under way
 * at a time, and the next one forms meanwhile.
 */
struct db_batch;
typedef bool db_batch_run_fn(struct tx *tx, void *items[], size_t count, void *context);
/* On a database thread (or, while the database is down, any), when the batch's outcome is known and before its tasks go
 * on: what must be true for whoever looks after a task was answered. May be NULL. */
typedef void db_batch_settled_fn(void *items[], size_t count, enum db_outcome outcome, void *context);
struct db_batch *db_batch_create(struct db *db, db_batch_run_fn *run, db_batch_settled_fn *settled, void *context,
                                 size_t max_items);
void db_batch_destroy(struct db_batch *batch);
__attribute__((warn_unused_result)) enum db_outcome db_batch_write(struct db_batch *batch, void *item);

/* A statement, usually static. Portable SQL in `sql` with $1, $2 …; where the dialects must
 * differ, `sqlite` and `postgres` stand side by side instead. Prepared once per connection. */
struct statement {
    const char *sql, *sqlite, *postgres;
};

struct db_value {
    enum {
        DB_TYPE_NULL,
        DB_TYPE_INT,
        DB_TYPE_BOOL,
        DB_TYPE_TEXT,
        DB_TYPE_BYTES,
        DB_TYPE_UUID,
        DB_TYPE_INTS,
        DB_TYPE_TEXTS
    } type;
    union {
        int64_t number;
        bool truth;
        struct str text;
        struct uuid uuid;
        struct {
            const void *items; /* int64_t or struct str; a str with ptr NULL is a NULL element */
            size_t count;
        } array;
    };
};

#define DB_NULL ((struct db_value){.type = DB_TYPE_NULL})
#define DB_INT(v) ((struct db_value){.type = DB_TYPE_INT, .number = (v)})
#define DB_BOOL(v) ((struct db_value){.type = DB_TYPE_BOOL, .truth = (v)})
#define DB_TEXT(v) ((struct db_value){.type = DB_TYPE_TEXT, .text = (v)}) /* NULL when .ptr is NULL */
#define DB_BYTES(v) ((struct db_value){.type = DB_TYPE_BYTES, .text = (v)})
#define DB_UUID(v) ((struct db_value){.type = DB_TYPE_UUID, .uuid = (v)})
/* Arrays are for batches: unnest($1::bigint[], $2::text[]) AS t (id, name) in PostgreSQL, unnest($1, $2) with the
 * columns c1 and c2 in SQLite. Their items must stay until the rows are read. */
#define DB_INTS(v, n) ((struct db_value){.type = DB_TYPE_INTS, .array = {(v), (n)}})
#define DB_TEXTS(v, n) ((struct db_value){.type = DB_TYPE_TEXTS, .array = {(v), (n)}})

#define DB_PARAMS(...)                                                                                                 \
    ((const struct db_value[]){__VA_ARGS__}), sizeof((const struct db_value[]){__VA_ARGS__}) / sizeof(struct db_value)
#define DB_NO_PARAMS NULL, 0

/* Inside a unit. */
bool tx_is_postgres(const struct tx *tx); /* for the few units that must choose */
bool tx_failed(const struct tx *tx);
struct arena *tx_arena(struct tx *tx); /* freed after the unit */
/* How many other servers are connected to the database. None in SQLite, whose file is for one process. */
int64_t tx_other_servers(struct tx *tx);

/* Makes the unit fail (DB_ERROR), as a failed statement does: what it has read cannot be used. */
void tx_give_up(struct tx *tx);

/* Runs a statement; false when it failed. Rows it returns are dropped. */
bool tx_exec(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count);

/* The same for the last statement of a unit, which returns its result at once: PostgreSQL is told to commit in the same
 * round trip. */
bool tx_exec_last(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count);

/* How many rows the last statement changed. */
int64_t tx_changes(const struct tx *tx);

/* Runs a statement for its rows; never NULL. Read them with rows_next before the next statement:
 *     struct rows *rows = tx_query(tx, &SEATS, DB_PARAMS(DB_INT(schedule)));
 *     while (rows_next(rows))
 *         … row_int(rows, "id") …
 *     return !tx_failed(tx); */
struct rows *tx_query(struct tx *tx, const struct statement *statement, const struct db_value *params, size_t count);
bool rows_next(struct rows *rows);
bool row_null(struct rows *rows, const char *column);
int64_t row_int(struct rows *rows, const char *column);
bool row_bool(struct rows *rows, const char *column);
struct str row_text(struct rows *rows, const char *column); /* until the next row; ptr NULL for NULL */
struct str row_bytes(struct rows *rows, const char *column);
struct uuid row_uuid(struct rows *rows, const char *column);

struct db_settings {
    const char *service;   /* schema and role in PostgreSQL, file name in SQLite: "reservation_service" */
    const char *url;       /* postgresql://…; NULL for SQLite */
    const char *directory; /* SQLite's folder */
    size_t connections;    /* writers and readers in PostgreSQL; readers in SQLite */
    size_t max_waiting;    /* units in the queue */
    int64_t statement_timeout_ms;
    /* For a command that works beside a running server: SQLite's file is opened without its lock, and writing it back
     * is left to the server. In PostgreSQL it does not count as a server. */
    bool guest;
};

/* Opens without waiting for PostgreSQL to be up (it is tried again in the background);
 * NULL with a logged reason when the settings or the file cannot work. */
struct db *db_open(const struct db_settings *settings);
void db_close(struct db *db);

/* NULL when it works, else why not, in words for /readyz. Any thread. */
const char *db_trouble(struct db *db);

#endif
