/*
 * A gate lets some tasks in at a time. Others wait before it, in their order, for a moment and not more than a number
 * of them; so a crowd that asks again and again is slowed down instead of being answered "no" as fast as it can ask.
 * Tasks of all loops share one gate; whoever came in must leave.
 */
#ifndef TASK_GATE_H
#define TASK_GATE_H

#include "task/queue.h"

#include <stdint.h>

struct gate {
    pthread_mutex_t mutex;
    size_t places; /* free ones; nobody waits while there are any */
    struct queue waiting;
    int64_t patience_ms;
};

void gate_init(struct gate *gate, size_t places, size_t max_waiting, int64_t patience_ms);
void gate_destroy(struct gate *gate);

/* From a task. False: too many wait already, or its own wait was in vain. */
__attribute__((warn_unused_result)) bool gate_enter(struct gate *gate);

/* From a task that has entered: the place goes to whoever has waited longest. */
void gate_leave(struct gate *gate);

#endif
