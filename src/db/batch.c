#include "db/adapter.h"
#include "db/pace.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * A batch is one job that stays in the writers' queue as long as it has items.
 * Items wait in the batch's own queue; the job takes them when it begins to run,
 * so everything that arrived until then travels along.
 */
struct db_batch {
    struct db_job job; /* first */
    struct db *db;
    db_batch_run_fn *run;
    db_batch_settled_fn *settled;
    void *context;
    size_t max_items;
    struct queue waiting;

    struct job *taken; /* by the run under way, linked */
    void **items;      /* what its function sees */
    size_t count;
    struct pace pace;

    pthread_mutex_t mutex; /* guards: */
    bool scheduled;        /* the job is queued or running */
};

/* An item and the task that waits for it, on that task's stack. */
struct batch_item {
    struct job job; /* first */
    void *item;
    enum db_outcome outcome;
    struct wakeup done;
};

static void take_items(struct db_batch *batch)
{
    batch->taken = queue_take_now(&batch->waiting, batch->max_items);
    for (struct job *job = batch->taken; job; job = job->next)
        batch->items[batch->count++] = ((struct batch_item *)job)->item;
}

/* A unit that is run again, after a conflict, has its items already. */
static bool run_batch(struct tx *tx, void *argument)
{
    struct db_batch *batch = argument;
    if (batch->count == 0) {
        pace_gather(&batch->pace, &batch->waiting, 0);
        pace_begin(&batch->pace);
        take_items(batch);
    }
    return batch->count > 0 && batch->run(tx, batch->items, batch->count, batch->context);
}

static void finish_batch(struct db_job *job, struct wakeup_batch *wakeups)
{
    struct db_batch *batch = (struct db_batch *)job;
    if (batch->count == 0) /* it never ran: those who wait share its fate */
        take_items(batch);
    if (batch->settled && batch->count)
        batch->settled(batch->items, batch->count, job->outcome, batch->context);
    for (struct job *taken = batch->taken, *next; taken; taken = next) {
        struct batch_item *item = (struct batch_item *)taken;
        next = taken->next; /* the item may be gone once its task can be woken */
        item->outcome = job->outcome;
        wakeup_batch_add(wakeups, &item->done);
    }
    batch->taken = NULL;
    pace_end(&batch->pace, batch->count);
    batch->count = 0;
    job->settled = false;
    job->outcome = DB_OK;

    pthread_mutex_lock(&batch->mutex);
    bool again = batch->scheduled = queue_length(&batch->waiting) > 0;
    pthread_mutex_unlock(&batch->mutex);
    if (again)
        queue_put_always(&batch->db->writes, &job->job);
}

static void schedule(struct db_batch *batch)
{
    pthread_mutex_lock(&batch->mutex);
    bool first = !batch->scheduled;
    batch->scheduled = true;
    pthread_mutex_unlock(&batch->mutex);
    if (first)
        db_submit_always(batch->db, &batch->db->writes, &batch->job);
}

struct db_batch *db_batch_create(struct db *db, db_batch_run_fn *run, db_batch_settled_fn *settled, void *context,
                                 size_t max_items)
{
    struct db_batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return NULL;
    *batch = (struct db_batch){.db = db, .run = run, .settled = settled, .context = context, .max_items = max_items};
    batch->job = (struct db_job){.unit = run_batch, .argument = batch, .finish = finish_batch};
    queue_init(&batch->waiting, db->writes.max);
    pthread_mutex_init(&batch->mutex, NULL);
    batch->items = calloc(max_items, sizeof(*batch->items));
    if (!batch->items) {
        db_batch_destroy(batch);
        return NULL;
    }
    return batch;
}

/* No task waits any more, but the job may still be on its way, without items. */
static bool is_scheduled(struct db_batch *batch)
{
    pthread_mutex_lock(&batch->mutex);
    bool scheduled = batch->scheduled;
    pthread_mutex_unlock(&batch->mutex);
    return scheduled;
}

void db_batch_destroy(struct db_batch *batch)
{
    while (is_scheduled(batch) && !queue_take_back(&batch->db->writes, &batch->job.job))
        usleep(1000);
    pthread_mutex_destroy(&batch->mutex);
    queue_destroy(&batch->waiting);
    free(batch->items);
    free(batch);
}

enum db_outcome db_batch_write(struct db_batch *batch, void *item)
{
    struct batch_item waiting = {.item = item};
    wakeup_prepare(&waiting.done);
    if (!queue_put(&batch->waiting, &waiting.job))
        return DB_BUSY;
    schedule(batch);
    if (!wakeup_wait(&waiting.done)) {
        if (queue_take_back(&batch->waiting, &waiting.job))
            return DB_DEADLINE;
        wakeup_wait_done(&waiting.done);
    }
    return waiting.outcome;
}
