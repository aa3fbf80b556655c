/* What loop.c and task.c share; nobody else includes it. */
#ifndef TASK_TASK_INTERNAL_H
#define TASK_TASK_INTERNAL_H

#include "task/context.h"
#include "task/deadline.h"
#include "task/task.h"

#include <stdatomic.h>

struct task_pool {
    struct context scheduler; /* the loop's own stack */
    struct task *running;
    struct task *idle;               /* finished; their stacks wait for the next */
    struct task *ready, **ready_end; /* to be switched to when the running one stops */
    struct task *all;
    size_t live, created, max;
};

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t looking;
    _Atomic(struct loop_message *) inbox; /* newest first */
    atomic_bool stopping;
    struct deadlines deadlines;
    struct task_pool tasks;
};

void task_pool_init(struct task_pool *pool, size_t max);
void task_pool_close_timers(struct task_pool *pool);
void task_pool_free(struct task_pool *pool);

#endif
