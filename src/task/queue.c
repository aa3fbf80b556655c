#include "task/queue.h"

#include "base/clock.h"

void queue_init(struct queue *queue, size_t max)
{
    *queue = (struct queue){.max = max};
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&queue->filled, &attributes);
    pthread_condattr_destroy(&attributes);
    queue->ends.next = queue->ends.previous = &queue->ends;
}

void queue_destroy(struct queue *queue)
{
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->filled);
}

static void unlink_job(struct queue *queue, struct job *job)
{
    job->previous->next = job->next;
    job->next->previous = job->previous;
    job->queued = false;
    queue->length--;
}

static void append(struct queue *queue, struct job *job)
{
    job->previous = queue->ends.previous;
    job->next = &queue->ends;
    job->previous->next = job->next->previous = job;
    job->queued = true;
    queue->length++;
    if (queue->length >= queue->wanted)
        pthread_cond_signal(&queue->filled);
}

bool queue_put(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->mutex);
    bool room = !queue->closed && queue->length < queue->max;
    if (room)
        append(queue, job);
    pthread_mutex_unlock(&queue->mutex);
    return room;
}

void queue_put_always(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->mutex);
    append(queue, job);
    pthread_mutex_unlock(&queue->mutex);
}

bool queue_take_back(struct queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->mutex);
    bool queued = job->queued;
    if (queued)
        unlink_job(queue, job);
    pthread_mutex_unlock(&queue->mutex);
    return queued;
}

static struct job *take_locked(struct queue *queue, size_t max)
{
    struct job *first = NULL, **end = &first;
    for (size_t taken = 0; taken < max && queue->length; taken++) {
        struct job *job = queue->ends.next;
        unlink_job(queue, job);
        *end = job;
        end = &job->next;
    }
    *end = NULL;
    return first;
}

struct job *queue_take(struct queue *queue, size_t max)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->length == 0 && !queue->closed)
        pthread_cond_wait(&queue->filled, &queue->mutex);
    struct job *first = take_locked(queue, max);
    pthread_mutex_unlock(&queue->mutex);
    return first;
}

bool queue_wait(struct queue *queue, size_t count, int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    ns += until.tv_nsec;
    until.tv_sec += ns / NS_PER_S;
    until.tv_nsec = ns % NS_PER_S;
    pthread_mutex_lock(&queue->mutex);
    queue->wanted = count;
    int waited = 0;
    while (queue->length < count && !queue->closed && waited == 0)
        waited = pthread_cond_timedwait(&queue->filled, &queue->mutex, &until);
    bool enough = queue->length >= count || queue->closed;
    queue->wanted = 0;
    pthread_mutex_unlock(&queue->mutex);
    return enough;
}

struct job *queue_take_now(struct queue *queue, size_t max)
{
    pthread_mutex_lock(&queue->mutex);
    struct job *first = take_locked(queue, max);
    pthread_mutex_unlock(&queue->mutex);
    return first;
}

void queue_close(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

size_t queue_length(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    size_t length = queue->length;
    pthread_mutex_unlock(&queue->mutex);
    return length;
}
