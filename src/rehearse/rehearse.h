/* A rehearsal from beginning to end: opens the house, lets the crowds in, shows how it goes, keeps the result. Main
 * thread. */
#ifndef REHEARSE_REHEARSE_H
#define REHEARSE_REHEARSE_H

#include "rehearse/plan.h"
#include "rehearse/stage.h"
#include "rehearse/timeline.h"

struct rehearsal {
    struct plan *plan;
    struct stage stage;
    struct tally tally;
    struct timeline timeline;
    int64_t started_ms; /* wall clock */
    double seconds;     /* from the first moment to the last answer */
    bool interrupted;   /* by the operator */
    size_t crossed;     /* thresholds */
};

enum rehearse_outcome { REHEARSE_FINE, REHEARSE_FAILED, REHEARSE_CROSSED };

/* Runs to the end or until SIGINT or SIGTERM; writes the report to standard output, and files where the plan wants
 * them; tells problems on standard error. */
enum rehearse_outcome rehearse_run(struct plan *plan);

#endif
