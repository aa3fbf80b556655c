/* How the run went, in at most TIMELINE_MAX slices of equal length. It begins with short slices; when there is no room
 * left, two neighbours become one, so a run of an hour needs no more room than one of a minute. Main thread. */
#ifndef REHEARSE_TIMELINE_H
#define REHEARSE_TIMELINE_H

#include "rehearse/tally.h"

enum { TIMELINE_MAX = 600, TIMELINE_FIRST_SLICE_MS = 100 };

struct slice {
    uint64_t requests, answered, sold, errors;
    uint64_t p50, p99, max; /* ns, of what was answered in it; of two slices the larger */
};

struct timeline {
    struct slice slices[TIMELINE_MAX];
    size_t count;
    int64_t slice_ns;
    size_t merged; /* short slices in the one that is being filled */
    struct slice filling;
    uint64_t requests, answered, sold, errors; /* at the end of the last short slice */
    struct histogram latency;
};

void timeline_init(struct timeline *timeline);

/* Call every TIMELINE_FIRST_SLICE_MS with all that has happened so far. */
void timeline_add(struct timeline *timeline, const struct tally *tally);

/* Whatever is in the slice that is not full. */
void timeline_finish(struct timeline *timeline);

#endif
