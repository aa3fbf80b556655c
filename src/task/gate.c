#include "task/gate.h"

#include "base/clock.h"
#include "task/task.h"

struct waiter {
    struct job job; /* first: queue_take_now returns it */
    struct wakeup entered;
};

void gate_init(struct gate *gate, size_t places, size_t max_waiting, int64_t patience_ms)
{
    *gate = (struct gate){.places = places, .patience_ms = patience_ms};
    pthread_mutex_init(&gate->mutex, NULL);
    queue_init(&gate->waiting, max_waiting);
}

void gate_destroy(struct gate *gate)
{
    queue_destroy(&gate->waiting);
    pthread_mutex_destroy(&gate->mutex);
}

enum door { DOOR_OPEN, DOOR_WAIT, DOOR_CROWDED };

static enum door try_to_enter(struct gate *gate, struct waiter *waiter)
{
    pthread_mutex_lock(&gate->mutex);
    enum door door = gate->places ? DOOR_OPEN : queue_put(&gate->waiting, &waiter->job) ? DOOR_WAIT : DOOR_CROWDED;
    if (door == DOOR_OPEN)
        gate->places--;
    pthread_mutex_unlock(&gate->mutex);
    return door;
}

static bool wait_to_enter(struct gate *gate, struct waiter *waiter)
{
    if (wakeup_wait_until(&waiter->entered, clock_mono_ns() + gate->patience_ms * NS_PER_MS))
        return true;
    if (queue_take_back(&gate->waiting, &waiter->job))
        return false;
    wakeup_wait_done(&waiter->entered); /* somebody has just left */
    return true;
}

bool gate_enter(struct gate *gate)
{
    struct waiter waiter = {0};
    wakeup_prepare(&waiter.entered);
    switch (try_to_enter(gate, &waiter)) {
    case DOOR_OPEN: return true;
    case DOOR_WAIT: return wait_to_enter(gate, &waiter);
    case DOOR_CROWDED: break;
    }
    return false;
}

void gate_leave(struct gate *gate)
{
    pthread_mutex_lock(&gate->mutex);
    struct waiter *next = (struct waiter *)queue_take_now(&gate->waiting, 1);
    if (!next)
        gate->places++;
    pthread_mutex_unlock(&gate->mutex);
    if (next)
        wakeup_post(&next->entered);
}
