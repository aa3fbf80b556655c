/* A bounded pool of threads for work that would hold up a loop: hashing passwords, drawing PDFs. */
#ifndef TASK_OFFLOAD_H
#define TASK_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct offload;

enum offload_outcome {
    OFFLOAD_DONE,
    OFFLOAD_FULL,     /* too much is waiting already; answer 503 */
    OFFLOAD_DEADLINE, /* the task's deadline passed before a thread was free; the work was not begun */
};

struct offload *offload_create(size_t threads, size_t max_waiting);
void offload_destroy(struct offload *offload);

/* From a task: runs work(argument) on a pool thread and waits for it. Work that
 * has begun is waited for past the deadline, since it uses the task's memory. */
__attribute__((warn_unused_result)) enum offload_outcome task_offload(struct offload *offload,
                                                                      void (*work)(void *argument), void *argument);

/* Any thread: whether it would be OFFLOAD_FULL now, for those who have other work to spare before. */
bool offload_is_full(struct offload *offload);

#endif
