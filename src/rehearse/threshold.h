/* When a rehearsal counts as failed: "p99>200ms", "errors>0.1%", "sold<500", "rate<1000/s", "map.p99>50ms". */
#ifndef REHEARSE_THRESHOLD_H
#define REHEARSE_THRESHOLD_H

#include "base/buf.h"
#include "rehearse/tally.h"

enum threshold_unit { THRESHOLD_DURATION, THRESHOLD_COUNT, THRESHOLD_RATE };
enum threshold_sign { THRESHOLD_ABOVE, THRESHOLD_AT_LEAST, THRESHOLD_BELOW, THRESHOLD_AT_MOST };

enum { THRESHOLD_TEXT_MAX = 64 };

struct threshold {
    char text[THRESHOLD_TEXT_MAX]; /* as written */
    size_t measure;                /* row of the table in threshold.c, or that of reasons */
    char reason[TALLY_REASON_BYTES];
    int kind; /* of request; -1 for all */
    enum threshold_sign sign;
    enum threshold_unit unit;
    bool share; /* the bound is a part of all requests */
    double bound;
};

/* False with a sentence in *problem that names the bad part. */
__attribute__((warn_unused_result)) bool threshold_parse(struct str text, struct threshold *threshold,
                                                         struct buf *problem);

/* Is it crossed? *found is what was measured, in the bound's unit (ns, a count or a share, per second). */
bool threshold_crossed(const struct threshold *threshold, const struct tally *tally, double seconds, double *found);

/* "p99 is 312 ms" */
void threshold_add_found(struct buf *out, const struct threshold *threshold, double found);

#endif
