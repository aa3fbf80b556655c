#include "db/adapter.h"

#include "base/log.h"

#include <assert.h>

enum { MAX_SERVICE_NAME = 48 };

bool db_service_name_is_sound(const char *service)
{
    size_t length = strspn(service, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length <= MAX_SERVICE_NAME && service[length] == '\0' && service[0] >= 'a';
}

struct db *db_open(const struct db_settings *settings)
{
    if (!db_service_name_is_sound(settings->service)) {
        log_error("a service name must be lower case letters, digits and _", LOG_C("service", settings->service));
        return NULL;
    }
    if (settings->connections == 0 || settings->connections > DB_MAX_CONNECTIONS || settings->max_waiting == 0 ||
        settings->statement_timeout_ms <= 0) {
        log_error("database settings are out of range", LOG_C("service", settings->service));
        return NULL;
    }
    return settings->url ? postgres_open(settings) : sqlite_open(settings);
}

void db_init(struct db *db, const struct db_adapter *adapter, size_t max_waiting)
{
    db->adapter = adapter;
    queue_init(&db->writes, max_waiting);
    queue_init(&db->reads, max_waiting);
    db->read_queue = &db->reads;
    atomic_init(&db->down, false);
}

void db_close(struct db *db)
{
    db->adapter->close(db);
}

const char *db_trouble(struct db *db)
{
    return db->adapter->trouble(db);
}

void db_fail_waiting(struct db *db)
{
    struct queue *const queues[] = {&db->writes, &db->reads};
    struct wakeup_batch wakeups;
    wakeup_batch_init(&wakeups);
    for (size_t i = 0; i < 2; i++) {
        struct job *next;
        while ((next = queue_take_now(queues[i], 1))) {
            struct db_job *job = (struct db_job *)next;
            job->outcome = DB_UNAVAILABLE;
            job->finish(job, &wakeups);
        }
    }
    wakeup_batch_send(&wakeups);
}

/* The look after the put closes the gap: either whoever took the database down
 * finds the job in the queue, or we see that it is down. */
static void fail_if_down(struct db *db)
{
    if (atomic_load(&db->down))
        db_fail_waiting(db);
}

bool db_submit(struct db *db, struct queue *queue, struct db_job *job)
{
    bool room = queue_put(queue, &job->job);
    fail_if_down(db);
    return room;
}

void db_submit_always(struct db *db, struct queue *queue, struct db_job *job)
{
    queue_put_always(queue, &job->job);
    fail_if_down(db);
}

/* A unit and the task that waits for it, on that task's stack. */
struct waiting_unit {
    struct db_job job; /* first */
    struct wakeup done;
};

static void finish_unit(struct db_job *job, struct wakeup_batch *wakeups)
{
    wakeup_batch_add(wakeups, &((struct waiting_unit *)job)->done);
}

static enum db_outcome run_unit(struct db *db, struct queue *queue, const struct db_job *job,
                                struct db_failure *failure)
{
    struct waiting_unit waiting = {.job = *job};
    waiting.job.trace = log_trace();
    waiting.job.finish = finish_unit;
    wakeup_prepare(&waiting.done);
    if (!db_submit(db, queue, &waiting.job))
        return atomic_load(&db->down) ? DB_UNAVAILABLE : DB_BUSY;
    if (!wakeup_wait(&waiting.done)) {
        if (queue_take_back(queue, &waiting.job.job))
            return DB_DEADLINE;
        wakeup_wait_done(&waiting.done);
    }
    if (failure)
        *failure = waiting.job.failure;
    return waiting.job.outcome;
}

enum db_outcome db_write(struct db *db, db_unit *unit, void *argument, struct db_failure *failure)
{
    return run_unit(db, &db->writes, &(struct db_job){.unit = unit, .argument = argument}, failure);
}

enum db_outcome db_read(struct db *db, db_unit *unit, void *argument)
{
    return run_unit(db, db->read_queue, &(struct db_job){.unit = unit, .argument = argument, .read_only = true}, NULL);
}
