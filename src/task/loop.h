/*
 * An event loop and the thread that runs it. Each core has one; connections and
 * tasks never leave the loop they were born on, so what belongs to a loop needs
 * no locks. Other threads reach it by posting messages, which it receives in
 * batches.
 */
#ifndef TASK_LOOP_H
#define TASK_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct loop;

/* Lives inside whatever is being delivered; the sender gives it away with the post. */
struct loop_message {
    struct loop_message *next;
    void (*deliver)(struct loop_message *message); /* on the loop's thread */
};

/* `max_tasks` bounds the tasks that may exist on this loop at once. */
struct loop *loop_create(size_t max_tasks);

/* Runs until loop_stop, on the calling thread; or until nothing is left to wait for. */
void loop_run(struct loop *loop);

/* Any thread. The loop returns from loop_run after the current callbacks. */
void loop_stop(struct loop *loop);

/* After loop_run has returned. Open handles must have been closed before. */
void loop_destroy(struct loop *loop);

/* The loop whose thread this is, or NULL. */
struct loop *loop_current(void);

uv_loop_t *loop_uv(struct loop *loop);

/* Any thread: one message, or a chain linked by `next`, delivered in the order given. */
void loop_post(struct loop *loop, struct loop_message *message);
void loop_post_chain(struct loop *loop, struct loop_message *first);

#endif
