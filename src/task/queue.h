/*
 * A bounded queue between tasks and worker threads. A job lives where its owner
 * keeps it (usually on the waiting task's stack); the queue only links it. A job
 * that no worker has taken yet can be taken back, so a task whose deadline passes
 * while it is queued leaves at once.
 */
#ifndef TASK_QUEUE_H
#define TASK_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job {
    struct job *next, *previous;
    bool queued;
};

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct job ends; /* a ring: ends.next is the oldest */
    size_t length, max;
    size_t wanted; /* fewer wake nobody */
    bool closed;
};

void queue_init(struct queue *queue, size_t max);
void queue_destroy(struct queue *queue);

/* Any thread. False when it is full or closed. */
bool queue_put(struct queue *queue, struct job *job);

/* Never refused: for the few jobs whose number is bounded elsewhere and that come
 * back, such as a batch that goes on as long as it has items. */
void queue_put_always(struct queue *queue, struct job *job);

/* Any thread. False when a worker has taken it already. */
bool queue_take_back(struct queue *queue, struct job *job);

/* Worker: waits for jobs and takes up to `max` of them, oldest first, linked by
 * `next` and ended by NULL. NULL when the queue is closed and empty. */
struct job *queue_take(struct queue *queue, size_t max);

/* The queue's only worker: waits until there are `count` jobs to take, or the queue is closed; false when `ns` have
 * passed without. */
bool queue_wait(struct queue *queue, size_t count, int64_t ns);

/* queue_take without waiting; NULL when there is none. */
struct job *queue_take_now(struct queue *queue, size_t max);

/* No more jobs; workers drain what is there. */
void queue_close(struct queue *queue);

size_t queue_length(struct queue *queue);

#endif
