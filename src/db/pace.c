#include "db/pace.h"

#include "base/clock.h"

#include <sched.h>

enum { PART = 2, SHORTEST_NS = 50 * 1000, LONGEST_NS = 1000 * 1000, ENOUGH = 64 };

void pace_gather(const struct pace *pace, struct queue *waiting, size_t count)
{
    sched_yield();
    size_t group = pace->last_count < ENOUGH ? pace->last_count : ENOUGH;
    int64_t pause_ns = pace->last_took_ns / PART;
    if (count < group && pause_ns >= SHORTEST_NS)
        queue_wait(waiting, group - count, pause_ns < LONGEST_NS ? pause_ns : LONGEST_NS);
}

void pace_begin(struct pace *pace)
{
    pace->began_ns = clock_mono_ns();
}

void pace_end(struct pace *pace, size_t count)
{
    pace->last_took_ns = clock_mono_ns() - pace->began_ns;
    pace->last_count = count;
}
