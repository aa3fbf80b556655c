/*
 * The PostgreSQL adapter: a pool of threads, each with a connection, serving one
 * queue. A thread without a connection tries to get one in the background, ever
 * more slowly; while none has one, units fail at once instead of waiting.
 */
#include "base/log.h"
#include "base/random.h"
#include "base/turns.h"
#include "db/postgres_connection.h"
#include "db/postgres_servers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { FIRST_BACKOFF_MS = 50, LONGEST_BACKOFF_MS = 1000 };

struct worker {
    struct postgres_db *db;
    struct postgres_connection connection;
    bool connected; /* as counted in the pool */
    unsigned freezes_seen;
    pthread_t thread;
};

struct postgres_db {
    struct db db; /* first */
    struct postgres_server server;
    char *url, *service;
    int stop; /* an eventfd: readable from the moment of closing */
    struct worker *workers;
    size_t worker_count;

    pthread_mutex_t mutex; /* guards: */
    size_t connected;
    const char *trouble; /* NULL while there is a connection, or before the first attempt */

    atomic_uint freezes; /* connections older than the last one are not to be trusted */
};

/* The only place where the pool's state changes. */
static void note(struct worker *worker, bool connected, const char *trouble)
{
    struct postgres_db *db = worker->db;
    pthread_mutex_lock(&db->mutex);
    db->connected += (size_t)connected - (size_t)worker->connected;
    worker->connected = connected;
    const char *before = db->trouble;
    if (trouble && (db->connected == 0 || worker->connection.frozen))
        db->trouble = trouble;
    else if (connected)
        db->trouble = NULL;
    const char *now = db->trouble;
    atomic_store(&db->db.down, now != NULL);
    pthread_mutex_unlock(&db->mutex);

    if (now && !before)
        log_error("the database is not available", LOG_C("service", db->service), LOG_C("reason", now));
    if (!now && before)
        log_info("the database is available again", LOG_C("service", db->service));
    if (now)
        db_fail_waiting(&db->db);
}

static bool connect_worker(struct worker *worker, int64_t within_ms)
{
    worker->freezes_seen = atomic_load(&worker->db->freezes);
    const char *trouble = postgres_connection_open(&worker->connection, within_ms);
    note(worker, !trouble, trouble);
    return !trouble;
}

static void run_job(struct worker *worker, struct db_job *job)
{
    struct postgres_connection *connection = &worker->connection;
    struct db *db = &worker->db->db;
    connection->tx.read_only = job->read_only;
    if (worker->freezes_seen != atomic_load(&worker->db->freezes))
        postgres_connection_drop(connection);
    if (!atomic_load(&db->down) &&
        (postgres_connection_stands(connection) || connect_worker(worker, POSTGRES_CONNECT_MS)))
        job->outcome = postgres_run(connection, job);
    else
        job->outcome = DB_UNAVAILABLE;
    if (connection->frozen) {
        atomic_fetch_add(&worker->db->freezes, 1);
        note(worker, false, "the server does not answer");
    } else if (!connection->handle) {
        note(worker, false, NULL);
    }

    /* Last, when everybody can see that the database is down: a batch goes back into the queue here, and those who have
     * waited for this one must not wait for the next as well. */
    struct wakeup_batch wakeups;
    wakeup_batch_init(&wakeups);
    job->finish(job, &wakeups);
    wakeup_batch_send(&wakeups);
    if (atomic_load(&db->down))
        db_fail_waiting(db);
}

/* False when the pool is closing. */
static bool back_off(struct worker *worker, int *backoff_ms)
{
    struct pollfd stop = {.fd = worker->db->stop, .events = POLLIN};
    int half = *backoff_ms / 2;
    if (*backoff_ms < LONGEST_BACKOFF_MS)
        *backoff_ms *= 2;
    return poll(&stop, 1, half + (int)random_below((uint64_t)half)) <= 0;
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    turns_shorten(TURN_SHORTEST_NS);
    int64_t patience = POSTGRES_CONNECT_MS;
    int backoff_ms = FIRST_BACKOFF_MS;
    for (;;) {
        if (!worker->connected && !connect_worker(worker, patience)) {
            patience = POSTGRES_CONNECT_PATIENT_MS;
            if (back_off(worker, &backoff_ms))
                continue;
            break;
        }
        patience = POSTGRES_CONNECT_MS;
        backoff_ms = FIRST_BACKOFF_MS;
        struct job *job = queue_take(&worker->db->db.writes, 1);
        if (!job)
            break;
        run_job(worker, (struct db_job *)job);
    }
    return NULL;
}

static const char *postgres_trouble(struct db *base)
{
    struct postgres_db *db = (struct postgres_db *)base;
    pthread_mutex_lock(&db->mutex);
    const char *trouble = db->trouble;
    if (!trouble && db->connected == 0)
        trouble = "not connected yet";
    pthread_mutex_unlock(&db->mutex);
    return trouble;
}

static void postgres_close(struct db *base)
{
    struct postgres_db *db = (struct postgres_db *)base;
    queue_close(&base->writes);
    if (db->stop >= 0)
        eventfd_write(db->stop, 1);
    for (size_t i = 0; i < db->worker_count; i++) {
        pthread_join(db->workers[i].thread, NULL);
        postgres_connection_free(&db->workers[i].connection);
    }
    db_fail_waiting(base);
    if (db->stop >= 0)
        close(db->stop);
    pthread_mutex_destroy(&db->mutex);
    queue_destroy(&base->writes);
    queue_destroy(&base->reads);
    free(db->workers);
    free(db->url);
    free(db->service);
    free(db);
}

static const struct db_adapter adapter = {
    .is_postgres = true,
    .close = postgres_close,
    .trouble = postgres_trouble,
    .execute = postgres_execute,
    .next_row = postgres_next_row,
    .end_rows = postgres_end_rows,
    .columns = postgres_columns,
    .column_name = postgres_column_name,
    .cell = postgres_cell,
};

static bool url_is_sound(const char *url)
{
    char *reason = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &reason);
    if (!options) /* the reason may quote the URL, and with it the password */
        log_error("the database URL cannot be understood; it should look like postgresql://user@host:port/name");
    PQconninfoFree(options);
    PQfreemem(reason);
    return options != NULL;
}

static bool start(struct postgres_db *db, const struct db_settings *settings)
{
    db->url = strdup(settings->url);
    db->service = strdup(settings->service);
    db->workers = calloc(settings->connections, sizeof(*db->workers));
    db->stop = eventfd(0, EFD_CLOEXEC);
    if (!db->url || !db->service || !db->workers || db->stop < 0)
        return false;
    db->server = (struct postgres_server){.url = db->url,
                                          .service = db->service,
                                          .statement_timeout_ms = settings->statement_timeout_ms,
                                          .server_id = settings->guest ? 0 : postgres_servers_own_id()};
    while (db->worker_count < settings->connections) {
        struct worker *worker = &db->workers[db->worker_count];
        worker->db = db;
        postgres_connection_init(&worker->connection, &db->server, &adapter);
        if (pthread_create(&worker->thread, NULL, work, worker) != 0)
            return false;
        db->worker_count++;
    }
    return true;
}

struct db *postgres_open(const struct db_settings *settings)
{
    if (!url_is_sound(settings->url))
        return NULL;
    struct postgres_db *db = calloc(1, sizeof(*db));
    if (!db)
        return NULL;
    db_init(&db->db, &adapter, settings->max_waiting);
    db->db.read_queue = &db->db.writes; /* the same threads do both */
    db->stop = -1;
    pthread_mutex_init(&db->mutex, NULL);
    if (!start(db, settings)) {
        postgres_close(&db->db);
        return NULL;
    }
    return &db->db;
}
