#include "db/pace.h"

#include "base/clock.h"

#include <sched.h>
#include <unistd.h>

enum { PART = 2, SHORTEST_US = 50, LONGEST_US = 1000 };

void pace_gather(const struct pace *pace, struct queue *waiting, size_t count)
{
    sched_yield();
    int64_t pause_us = pace->last_took_ns / PART / 1000;
    if (count + queue_length(waiting) < pace->last_count && pause_us >= SHORTEST_US)
        usleep((useconds_t)(pause_us < LONGEST_US ? pause_us : LONGEST_US));
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
