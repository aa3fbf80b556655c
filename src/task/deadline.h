/*
 * When a wait ends at the latest. Nearly every wait is over long before its deadline, so arming one must cost next to
 * nothing: those that are far away stand in a list that the loop looks through fifty times a second; only near ones
 * have a timer. A deadline never passes early; a far one passes up to DEADLINE_TICK_MS late. Private to loop and task;
 * on the loop's thread.
 */
#ifndef TASK_DEADLINE_H
#define TASK_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum { DEADLINE_TICK_MS = 20, DEADLINE_NEAR_MS = 5 * DEADLINE_TICK_MS };

struct deadline_link {
    struct deadline_link *next, *previous;
};

struct deadline {
    struct deadline_link link; /* first */
    struct deadlines *all;
    int64_t mono_ns;
    bool is_far;
    uv_timer_t timer;
    void (*passed)(struct deadline *deadline);
};

/* Of a loop. */
struct deadlines {
    struct deadline_link far; /* the list's ends */
    uv_timer_t tick;          /* runs while the list is not empty, and once more */
};

void deadlines_init(struct deadlines *all, uv_loop_t *loop);
void deadlines_close(struct deadlines *all);

void deadline_init(struct deadline *deadline, struct deadlines *all, void (*passed)(struct deadline *));
void deadline_close(struct deadline *deadline);

void deadline_arm(struct deadline *deadline, int64_t mono_ns);
void deadline_disarm(struct deadline *deadline); /* also when it has passed */

#endif
