/*
 * A task is a coroutine: straight-line code that may wait. While it waits, its
 * loop serves others. A task runs on one loop from start to end; it owns a pooled
 * stack (task/context.h) while it lives.
 *
 * Waiting works by a wakeup: the task prepares one, hands it to whoever will
 * finish the work (a database thread, a timer, a Redis reply), and waits on it.
 *
 *     struct wakeup done;
 *     wakeup_prepare(&done);
 *     … give &done away …
 *     if (!wakeup_wait(&done))          // the task's deadline has passed first
 *         … take it back, or wakeup_wait_done(&done) …
 *
 * A wakeup usually lies on the task's stack. So whoever has it must either post
 * it or have it taken away before the waiting function returns.
 */
#ifndef TASK_TASK_H
#define TASK_TASK_H

#include "task/loop.h"

struct task;

/* Starts fn(arg) as a task on the current loop; it runs at once, until its first
 * wait, when called from outside a task, and soon when called from inside one.
 * False when the loop has as many tasks as it may have, or no memory for a stack. */
bool task_start(void (*fn)(void *arg), void *arg);

/* The running task; NULL outside of tasks. */
struct task *task_self(void);

/* How many tasks live on the current loop. */
size_t task_count(void);

/* No wait of this task goes on past this moment (clock_mono_ns); 0 for none. */
void task_set_deadline(int64_t mono_ns);
int64_t task_deadline(void);

/* False when the deadline cut it short. */
bool task_sleep(int64_t ms);

struct wakeup {
    struct loop_message message;
    struct task *task;
    struct loop *loop;
    bool done;
    bool waiting;
};

/* For the running task; once per wakeup. */
void wakeup_prepare(struct wakeup *wakeup);

/* True when it was posted; false when the task's deadline has passed before. */
bool wakeup_wait(struct wakeup *wakeup);

/* The same with a deadline of its own (clock_mono_ns; 0 for none), if it is the earlier one. */
bool wakeup_wait_until(struct wakeup *wakeup, int64_t mono_ns);

/* Waits past any deadline: for work that ends by itself soon and cannot be taken back. */
void wakeup_wait_done(struct wakeup *wakeup);

/* On the task's own loop. */
void wakeup_now(struct wakeup *wakeup);

/* From any thread. */
void wakeup_post(struct wakeup *wakeup);

/* From any thread, many at once: one signal per loop instead of one per task. */
enum { WAKEUP_LOOPS = 64 };
struct wakeup_batch {
    struct {
        struct loop *loop;
        struct loop_message *first, **end;
    } lists[WAKEUP_LOOPS];
    size_t loops;
};
void wakeup_batch_init(struct wakeup_batch *batch);
void wakeup_batch_add(struct wakeup_batch *batch, struct wakeup *wakeup);
void wakeup_batch_send(struct wakeup_batch *batch);

#endif
