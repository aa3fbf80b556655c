#include "task/offload.h"

#include "task/queue.h"
#include "task/task.h"

#include <stdlib.h>

struct offload {
    struct queue queue;
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

struct offload *offload_create(size_t threads, size_t max_waiting)
{
    struct offload *offload = calloc(1, sizeof(*offload));
    if (!offload)
        return NULL;
    queue_init(&offload->queue, max_waiting);
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
    free(offload->threads);
    free(offload);
}

bool offload_is_full(struct offload *offload)
{
    return queue_is_full(&offload->queue);
}

enum offload_outcome task_offload(struct offload *offload, void (*work)(void *argument), void *argument)
{
    struct offload_job job = {.work = work, .argument = argument};
    wakeup_prepare(&job.done);
    if (!queue_put(&offload->queue, &job.job))
        return OFFLOAD_FULL;
    if (!wakeup_wait(&job.done)) {
        if (queue_take_back(&offload->queue, &job.job))
            return OFFLOAD_DEADLINE;
        wakeup_wait_done(&job.done);
    }
    return OFFLOAD_DONE;
}
