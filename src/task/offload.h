/*
 * A pool of threads for work that would hold up a loop: hashing passwords, drawing PDFs. Tasks enter through a gate,
 * twice as many as there are threads: while one's work is done, the next reads what it needs for its own.
 */
#ifndef TASK_OFFLOAD_H
#define TASK_OFFLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct offload;

/* Up to `max_waiting` tasks wait for each other to leave, none longer than `patience_ms`. */
struct offload *offload_create(size_t threads, size_t max_waiting, int64_t patience_ms);
void offload_destroy(struct offload *offload);

/* From a task, before it does anything else of what it needs the pool for. False: answer 503. Whoever came in leaves.
 */
__attribute__((warn_unused_result)) bool offload_enter(struct offload *offload);
void offload_leave(struct offload *offload);

/* From a task that has entered: runs work(argument) on a pool thread and waits for it. Work that has begun is waited
 * for past the deadline, since it uses the task's memory. False: the deadline passed before a thread was free, and the
 * work was not begun. */
__attribute__((warn_unused_result)) bool task_offload(struct offload *offload, void (*work)(void *argument),
                                                      void *argument);

#endif
