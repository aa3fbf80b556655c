#include "task/offload.h"

#include "task/gate.h"
#include "task/task.h"

#include <stdlib.h>

struct offload {
    struct gate gate;
    struct queue queue; /* of those who have entered */
    pthread_t *threads;
    size_t count;
};

struct offload_job {
    struct job job; /* first: queue_take returns it */
    void (*work)(void *);
    void *argument;
    struct wakeup done;
};

static void *worker(void *argument)
{
    struct offload *offload = argument;
    struct job *job;
    while ((job = queue_take(&offload->queue, 1))) {
        struct offload_job *mine = (struct offload_job *)job;
        mine->work(mine->argument);
        wakeup_post(&mine->done);
    }
    return NULL;
}

struct offload *offload_create(size_t threads, size_t max_waiting, int64_t patience_ms)
{
    struct offload *offload = calloc(1, sizeof(*offload));
    if (!offload)
        return NULL;
    gate_init(&offload->gate, 2 * threads, max_waiting, patience_ms);
    queue_init(&offload->queue, 2 * threads);
    offload->threads = calloc(threads, sizeof(*offload->threads));
    while (offload->threads && offload->count < threads &&
           pthread_create(&offload->threads[offload->count], NULL, worker, offload) == 0)
        offload->count++;
    if (offload->count == 0) {
        offload_destroy(offload);
        return NULL;
    }
    return offload;
}

void offload_destroy(struct offload *offload)
{
    queue_close(&offload->queue);
    for (size_t i = 0; i < offload->count; i++)
        pthread_join(offload->threads[i], NULL);
    queue_destroy(&offload->queue);
    gate_destroy(&offload->gate);
    free(offload->threads);
    free(offload);
}

bool offload_enter(struct offload *offload)
{
    return gate_enter(&offload->gate);
}

void offload_leave(struct offload *offload)
{
    gate_leave(&offload->gate);
}

bool task_offload(struct offload *offload, void (*work)(void *argument), void *argument)
{
    struct offload_job job = {.work = work, .argument = argument};
    wakeup_prepare(&job.done);
    if (!queue_put(&offload->queue, &job.job))
        return false;
    if (!wakeup_wait(&job.done)) {
        if (queue_take_back(&offload->queue, &job.job))
            return false;
        wakeup_wait_done(&job.done);
    }
    return true;
}
