/*
 * One figure of the database port: bench_db WAY FOLDER SECONDS prints durable rows
 * per second. bench_db.py runs the ways in turn.
 *
 *     sqlite-alone       a commit for each row, straight through SQLite: what it costs without us
 *     sqlite-units       units of 256 tasks at once, one row each; the writer groups them
 *     sqlite-batches     items of 256 tasks at once in a batched operation
 *     postgres-units     units of 256 tasks at once; each is a transaction with its own commit
 *     postgres-batches   items of 256 tasks at once in a batched operation
 *
 * PostgreSQL's address is in BENCH_DATABASE_URL.
 */
#include "base/clock.h"
#include "base/log.h"
#include "db/db.h"
#include "db/migrate.h"
#include "task/task.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN_FLIGHT = 256, CONNECTIONS = 16 };

static const char SERVICE[] = "bench_service";
static const struct migration bench_migrations[] = {
    {"bench_service", "postgres", 1, "001_claim",
     STR_INIT("CREATE TABLE claim (seat BIGINT PRIMARY KEY, owner BIGINT)")},
    {"bench_service", "sqlite", 1, "001_claim",
     STR_INIT("CREATE TABLE claim (seat INTEGER PRIMARY KEY, owner INTEGER)")},
    {0},
};

static const struct statement INSERT = {.sql = "INSERT INTO claim (seat, owner) VALUES ($1, $2)"};
static const struct statement INSERT_ALL = {
    .postgres = "INSERT INTO claim (seat, owner) SELECT * FROM unnest($1::bigint[], $2::bigint[])"};
static const struct statement LAST = {.sql = "SELECT coalesce(max(seat), 0) AS seat FROM claim"};

struct bench {
    struct db *db;
    struct db_batch *batch; /* NULL: units */
    int64_t next_seat, until_ns;
    size_t rows, left;
    struct wakeup ended;
    double seconds, rate;
};

_Noreturn static void stop(const char *why)
{
    fprintf(stderr, "bench_db: %s\n", why);
    exit(1);
}

static bool claim(struct tx *tx, void *seat)
{
    int64_t number = *(int64_t *)seat;
    return tx_exec(tx, &INSERT, DB_PARAMS(DB_INT(number), DB_INT(number * 7)));
}

static bool claim_all(struct tx *tx, void *items[], size_t count, void *context)
{
    (void)context;
    if (!tx_is_postgres(tx)) {
        for (size_t i = 0; i < count; i++)
            claim(tx, items[i]);
        return !tx_failed(tx);
    }
    int64_t *seats = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, count),
            *owners = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, count);
    for (size_t i = 0; i < count; i++) {
        seats[i] = *(int64_t *)items[i];
        owners[i] = seats[i] * 7;
    }
    return tx_exec(tx, &INSERT_ALL, DB_PARAMS(DB_INTS(seats, count), DB_INTS(owners, count)));
}

static bool find_last(struct tx *tx, void *last)
{
    struct rows *rows = tx_query(tx, &LAST, DB_NO_PARAMS);
    *(int64_t *)last = rows_next(rows) ? row_int(rows, "seat") : 0;
    return true;
}

static void claim_until_the_end(void *argument)
{
    struct bench *bench = argument;
    while (clock_mono_ns() < bench->until_ns) {
        int64_t seat = bench->next_seat++;
        if ((bench->batch ? db_batch_write(bench->batch, &seat) : db_write(bench->db, claim, &seat, NULL)) != DB_OK)
            stop("a claim failed");
        bench->rows++;
    }
    if (--bench->left == 0)
        wakeup_now(&bench->ended);
}

static void run_tasks(void *argument)
{
    struct bench *bench = argument;
    if (db_read(bench->db, find_last, &bench->next_seat) != DB_OK)
        stop("cannot read");
    bench->next_seat++;
    int64_t began = clock_mono_ns();
    bench->until_ns = began + (int64_t)(bench->seconds * (double)NS_PER_S);
    bench->left = IN_FLIGHT;
    wakeup_prepare(&bench->ended);
    for (size_t i = 0; i < IN_FLIGHT; i++)
        if (!task_start(claim_until_the_end, bench))
            stop("cannot start a task");
    wakeup_wait_done(&bench->ended);
    bench->rate = (double)bench->rows * (double)NS_PER_S / (double)(clock_mono_ns() - began);
    loop_stop(loop_current());
}

struct start {
    struct loop_message message;
    struct bench *bench;
};

static void start_tasks(struct loop_message *message)
{
    if (!task_start(run_tasks, ((struct start *)message)->bench))
        stop("cannot start a task");
}

static double measure_port(const char *url, const char *folder, bool batched, double seconds)
{
    const char *const services[] = {SERVICE, NULL};
    if ((url ? migrate_postgres(bench_migrations, services, url, NULL)
             : migrate_sqlite(bench_migrations, SERVICE, folder)) != MIGRATE_OK)
        stop("cannot migrate");
    struct bench bench = {.seconds = seconds};
    bench.db = db_open(&(struct db_settings){.service = SERVICE,
                                             .url = url,
                                             .directory = folder,
                                             .connections = CONNECTIONS,
                                             .max_waiting = 2 * IN_FLIGHT,
                                             .statement_timeout_ms = 5000});
    if (!bench.db)
        stop("cannot open the database");
    bench.batch = batched ? db_batch_create(bench.db, claim_all, NULL, NULL, IN_FLIGHT) : NULL;
    struct loop *loop = loop_create(2 * IN_FLIGHT);
    struct start start = {.message.deliver = start_tasks, .bench = &bench};
    loop_post(loop, &start.message);
    loop_run(loop);
    loop_destroy(loop);
    if (bench.batch)
        db_batch_destroy(bench.batch);
    db_close(bench.db);
    return bench.rate;
}

static void run_sql(sqlite3 *handle, const char *sql)
{
    if (sqlite3_exec(handle, sql, NULL, NULL, NULL) != SQLITE_OK)
        stop(sqlite3_errmsg(handle));
}

static void step(sqlite3_stmt *statement)
{
    if (sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement) != SQLITE_OK)
        stop("a step failed");
}

static double measure_alone(const char *folder, double seconds)
{
    static const char *const texts[] = {"BEGIN IMMEDIATE",
                                        "INSERT INTO claim SELECT 1 + coalesce(max(seat), 0), 7 FROM claim", "COMMIT"};
    char path[4096];
    snprintf(path, sizeof(path), "%s/alone.db", folder);
    sqlite3 *handle;
    sqlite3_stmt *statements[3];
    if (sqlite3_open(path, &handle) != SQLITE_OK)
        stop("cannot open the file");
    run_sql(handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                    "CREATE TABLE IF NOT EXISTS claim (seat INTEGER PRIMARY KEY, owner INTEGER)");
    for (size_t i = 0; i < 3; i++)
        if (sqlite3_prepare_v2(handle, texts[i], -1, &statements[i], NULL) != SQLITE_OK)
            stop(sqlite3_errmsg(handle));
    size_t rows = 0;
    int64_t began = clock_mono_ns(), until = began + (int64_t)(seconds * (double)NS_PER_S);
    for (; clock_mono_ns() < until; rows++)
        for (size_t i = 0; i < 3; i++)
            step(statements[i]);
    double rate = (double)rows * (double)NS_PER_S / (double)(clock_mono_ns() - began);
    for (size_t i = 0; i < 3; i++)
        sqlite3_finalize(statements[i]);
    sqlite3_close(handle);
    return rate;
}

int main(int count, char **arguments)
{
    if (count != 4)
        stop("usage: bench_db WAY FOLDER SECONDS");
    struct str way = str_from(arguments[1]);
    const char *folder = arguments[2];
    double seconds = atof(arguments[3]);
    bool postgres = str_starts(way, STR("postgres-"));
    const char *url = postgres ? getenv("BENCH_DATABASE_URL") : NULL;
    if (postgres && !url)
        stop("BENCH_DATABASE_URL is not set");
    log_setup(LOG_WARN, LOG_AUTO);
    double rate = str_eq(way, STR("sqlite-alone"))
                      ? measure_alone(folder, seconds)
                      : measure_port(url, folder, str_contains(way, STR("batches")), seconds);
    printf("%.0f\n", rate);
    return 0;
}
