/*
 * The SQLite adapter: one file per service. The writer thread takes every queued
 * unit, runs each in a savepoint of one transaction and commits once, so that one
 * fsync serves them all; then it wakes all their tasks. Meanwhile the next ones
 * gather. When nobody comes, it writes the log back into the file. Readers have a
 * thread and a connection each.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/turns.h"
#include "db/folder_lock.h"
#include "db/pace.h"
#include "db/sqlite_connection.h"
#include "db/sqlite_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { UNITS_PER_COMMIT = 1024 };

struct reader {
    struct sqlite_db *db;
    struct sqlite_connection connection;
    pthread_t thread;
};

struct sqlite_db {
    struct db db; /* first */
    int lock;
    struct sqlite_connection writer;
    struct sqlite_log log; /* the writer's; of a guest, never written back */
    pthread_t writer_thread;
    bool writer_runs;
    struct reader *readers;
    size_t reader_count;

    _Atomic(const char *) trouble; /* why the last commit failed; NULL after one that worked */
    struct db_job probe;           /* tries a commit while there is trouble */
    atomic_bool probe_is_queued;
};

static void settle(struct db_job *first, enum db_outcome outcome)
{
    for (struct db_job *job = first; job; job = (struct db_job *)job->job.next)
        if (!job->settled) {
            job->outcome = outcome;
            job->settled = true;
        }
}

static void commit_failed(struct sqlite_db *db, int result)
{
    const char *reason = sqlite3_errstr(result);
    log_error("cannot write to the database file", LOG_C("reason", reason), LOG_INT("code", result));
    atomic_store(&db->trouble, reason);
}

static bool has_open_references(struct sqlite_connection *writer)
{
    int now = 0, highest = 0;
    sqlite3_db_status(writer->handle, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &highest, 0);
    return now != 0;
}

/* Deferred references are looked at here and not by the commit, where they would fail everybody. */
static void run_unit(struct sqlite_connection *writer, struct db_job *job)
{
    job->outcome = tx_run(&writer->tx, job);
    job->failure = writer->tx.failure;
    if (job->outcome == DB_OK && has_open_references(writer))
        job->outcome = DB_CONSTRAINT;
}

static void run_in_savepoint(struct sqlite_connection *writer, struct db_job *job)
{
    int result = sqlite_connection_control(writer, CONTROL_SAVEPOINT);
    if (result != SQLITE_OK) {
        job->outcome = sqlite_outcome(result, false);
        return;
    }
    run_unit(writer, job);
    if (sqlite3_get_autocommit(writer->handle))
        return;
    if (job->outcome != DB_OK)
        sqlite_connection_control(writer, CONTROL_ROLLBACK_TO);
    sqlite_connection_control(writer, CONTROL_RELEASE);
}

/* False: the round should run again. */
static bool commit(struct sqlite_db *db, struct db_job *first)
{
    int result = sqlite_connection_control(&db->writer, CONTROL_COMMIT);
    if (result == SQLITE_OK) {
        atomic_store(&db->trouble, NULL);
        return true;
    }
    if (!sqlite3_get_autocommit(db->writer.handle))
        sqlite_connection_control(&db->writer, CONTROL_ROLLBACK);
    if (result == SQLITE_FULL && sqlite_log_make_room(&db->log))
        return false;
    commit_failed(db, result);
    /* When the sync itself failed, the bytes may have reached the disk, and a crash now would bring them back. */
    settle(first, result == SQLITE_IOERR_FSYNC ? DB_UNCERTAIN : DB_UNAVAILABLE);
    return true;
}

/* Some failures (a full disk, a statement out of time) end SQLite's whole transaction.
 * Then false: the others run again, without the unit that did it. */
static bool try_round(struct sqlite_db *db, struct db_job *first)
{
    struct sqlite_connection *writer = &db->writer;
    int result = sqlite_connection_control(writer, CONTROL_BEGIN_WRITE);
    if (result != SQLITE_OK) { /* busy: somebody else writes to the file, an operator's tool perhaps */
        commit_failed(db, result);
        settle(first, result == SQLITE_BUSY ? DB_BUSY : DB_UNAVAILABLE);
        return true;
    }
    /* For a savepoint SQLite copies every page before it changes; a unit that is alone can do with the whole
     * transaction. */
    bool work = false, is_alone = !first->job.next;
    for (struct db_job *job = first; job; job = (struct db_job *)job->job.next) {
        if (job->settled)
            continue;
        (is_alone ? run_unit : run_in_savepoint)(writer, job);
        job->settled = job->outcome != DB_OK;
        work |= !job->settled;
        if (!sqlite3_get_autocommit(writer->handle))
            continue;
        if (job->outcome == DB_OK)
            job->outcome = DB_ERROR;
        job->settled = true;
        if (job->outcome != DB_UNAVAILABLE)
            return false;
        commit_failed(db, sqlite3_extended_errcode(writer->handle));
        settle(first, DB_UNAVAILABLE);
        return true;
    }
    if (work)
        return commit(db, first);
    sqlite_connection_control(writer, CONTROL_ROLLBACK);
    return true;
}

static size_t finish_round(struct job *first)
{
    struct wakeup_batch wakeups;
    wakeup_batch_init(&wakeups);
    size_t count = 0;
    for (struct job *job = first, *next; job; job = next, count++) {
        next = job->next;
        ((struct db_job *)job)->finish((struct db_job *)job, &wakeups);
    }
    wakeup_batch_send(&wakeups);
    return count;
}

/* The first of the waiting units. The log is written back when nobody comes for a while, or when it must be. */
static struct job *take_first(struct sqlite_db *db)
{
    struct queue *writes = &db->db.writes;
    if (sqlite_log_is_long(&db->log) ||
        (sqlite_log_is_worth_writing(&db->log) && !queue_wait(writes, 1, SQLITE_LOG_QUIET_MS * NS_PER_MS)))
        sqlite_log_write_back(&db->log);
    return queue_take(writes, 1);
}

static void *write_units(void *argument)
{
    struct sqlite_db *db = argument;
    struct pace pace = {0};
    turns_shorten(TURN_SHORTEST_NS);
    struct job *first;
    while ((first = take_first(db))) {
        pace_gather(&pace, &db->db.writes, 1);
        pace_begin(&pace);
        first->next = queue_take_now(&db->db.writes, UNITS_PER_COMMIT - 1);
        while (!try_round(db, (struct db_job *)first))
            ;
        pace_end(&pace, finish_round(first));
    }
    return NULL;
}

static void read_unit(struct sqlite_connection *connection, struct db_job *job)
{
    int result = sqlite_connection_control(connection, CONTROL_BEGIN_READ);
    if (result != SQLITE_OK) {
        job->outcome = sqlite_outcome(result, true);
        return;
    }
    job->outcome = tx_run(&connection->tx, job);
    if (!sqlite3_get_autocommit(connection->handle))
        sqlite_connection_control(connection, CONTROL_ROLLBACK);
}

static void *read_units(void *argument)
{
    struct reader *reader = argument;
    turns_shorten(TURN_SHORTEST_NS);
    struct wakeup_batch wakeups;
    wakeup_batch_init(&wakeups);
    struct job *job;
    while ((job = queue_take(&reader->db->db.reads, 1))) {
        read_unit(&reader->connection, (struct db_job *)job);
        ((struct db_job *)job)->finish((struct db_job *)job, &wakeups);
        wakeup_batch_send(&wakeups);
    }
    return NULL;
}

/* Writes the file's first page as it is: a commit that changes nothing. */
static bool write_nothing(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement ask = {.sqlite = "PRAGMA user_version"};
    struct rows *rows = tx_query(tx, &ask, DB_NO_PARAMS);
    int64_t version = rows_next(rows) ? row_int(rows, "user_version") : 0;
    struct statement set = {.sqlite = arena_format(tx_arena(tx), "PRAGMA user_version = %d", (int)version).ptr};
    return tx_exec(tx, &set, DB_NO_PARAMS);
}

static void finish_probe(struct db_job *job, struct wakeup_batch *wakeups)
{
    (void)wakeups;
    struct sqlite_db *db = job->argument;
    job->settled = false;
    atomic_store(&db->probe_is_queued, false);
}

/* Whoever asks after the trouble also has it tried again, so that a server that
 * gets no requests while it is not ready becomes ready all the same. */
static const char *sqlite_trouble(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    const char *trouble = atomic_load(&db->trouble);
    if (trouble && !atomic_exchange(&db->probe_is_queued, true)) {
        db->probe = (struct db_job){.unit = write_nothing, .argument = db, .finish = finish_probe};
        queue_put_always(&base->writes, &db->probe.job);
    }
    return trouble;
}

static void sqlite_close(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    queue_close(&base->writes);
    queue_close(&base->reads);
    for (size_t i = 0; i < db->reader_count; i++) {
        pthread_join(db->readers[i].thread, NULL);
        sqlite_connection_close(&db->readers[i].connection);
    }
    if (db->writer_runs)
        pthread_join(db->writer_thread, NULL);
    if (db->writer.handle)
        sqlite_connection_close(&db->writer);
    if (db->lock >= 0)
        close(db->lock);
    queue_destroy(&base->writes);
    queue_destroy(&base->reads);
    free(db->readers);
    free(db);
}

static const struct db_adapter adapter = {
    .close = sqlite_close,
    .trouble = sqlite_trouble,
    .execute = sqlite_execute,
    .next_row = sqlite_next_row,
    .end_rows = sqlite_end_rows,
    .columns = sqlite_columns,
    .column_name = sqlite_column_name_of,
    .cell = sqlite_cell,
};

static bool start_reader(struct sqlite_db *db, const char *path, int64_t timeout_ms)
{
    struct reader *reader = &db->readers[db->reader_count];
    reader->db = db;
    if (!sqlite_connection_open(&reader->connection, path, false, &adapter, timeout_ms))
        return false;
    if (pthread_create(&reader->thread, NULL, read_units, reader) != 0) {
        sqlite_connection_close(&reader->connection);
        return false;
    }
    db->reader_count++;
    return true;
}

static bool start(struct sqlite_db *db, const struct db_settings *settings)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s.db", settings->directory, settings->service) >= sizeof(path))
        return false;
    db->readers = calloc(settings->connections, sizeof(*db->readers));
    if (!db->readers || (!settings->guest && (db->lock = folder_lock(settings->directory, settings->service, 0)) < 0) ||
        !sqlite_connection_open(&db->writer, path, true, &adapter, settings->statement_timeout_ms) ||
        (settings->guest && !sqlite_connection_be_guest(&db->writer)))
        return false;
    if (!settings->guest)
        sqlite_log_own(&db->log, db->writer.handle);
    db->writer_runs = pthread_create(&db->writer_thread, NULL, write_units, db) == 0;
    while (db->writer_runs && db->reader_count < settings->connections)
        if (!start_reader(db, path, settings->statement_timeout_ms))
            return false;
    return db->writer_runs;
}

struct db *sqlite_open(const struct db_settings *settings)
{
    struct sqlite_db *db = calloc(1, sizeof(*db));
    if (!db)
        return NULL;
    db->lock = -1;
    db_init(&db->db, &adapter, settings->max_waiting);
    if (!start(db, settings)) {
        sqlite_close(&db->db);
        return NULL;
    }
    return &db->db;
}
