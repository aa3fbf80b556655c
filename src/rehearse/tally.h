/* What has happened so far: counts and times. Each thread has its own, under the lock of its crowd; whoever wants the
 * whole merges copies. */
#ifndef REHEARSE_TALLY_H
#define REHEARSE_TALLY_H

#include "base/histogram.h"
#include "base/str.h"
#include "history/history.h"

enum { TALLY_KINDS = HISTORY_MAP + 1, TALLY_REASONS_MAX = 24, TALLY_REASON_BYTES = 32 };

struct tally_reason {
    char name[TALLY_REASON_BYTES];
    uint64_t count;
};

struct tally {
    uint64_t users;    /* who have come */
    uint64_t requests; /* that should have been sent until now */
    uint64_t sent;     /* begun to be */
    uint64_t answered;
    uint64_t kinds[TALLY_KINDS]; /* of those answered */
    uint64_t sold;               /* claims answered with a seat */
    uint64_t released;
    uint64_t retries;
    uint64_t gave_up;       /* connections closed on purpose before the answer */
    uint64_t server_errors; /* answers 5xx */
    uint64_t refused;       /* connections that could not be made */
    uint64_t broken;        /* connections that ended before the answer, and answers that were none */
    uint64_t too_large;     /* answers for which there was no room here */
    uint64_t timeouts;
    uint64_t not_sent;                              /* no connection was free in time, or too many waited for one */
    uint64_t cut_off;                               /* still in progress when the rehearsal was stopped */
    uint64_t opened;                                /* connections, in all */
    uint64_t open, open_most;                       /* now; and the most at a time */
    int64_t last_end_ns;                            /* when the last request ended, by clock_mono_ns; 0: none has */
    uint64_t waiting;                               /* requests in progress now */
    struct tally_reason reasons[TALLY_REASONS_MAX]; /* of all answers, "claimed" for a seat; in order of appearance */
    size_t reason_count;
    struct histogram latency[TALLY_KINDS]; /* ns from when it should have been sent to the answer's end; timeouts too */
    struct histogram lag;                  /* ns from when it should have been sent to its first byte */
};

void tally_clear(struct tally *tally);
void tally_merge(struct tally *into, const struct tally *from);
void tally_count_reason(struct tally *tally, struct str reason);

/* 0 for one that never came. */
uint64_t tally_reason_count(const struct tally *tally, struct str reason);

/* Requests that were answered 5xx, or not at all although the user waited. */
uint64_t tally_errors(const struct tally *tally);

/* The times of all kinds together. */
void tally_latency(const struct tally *tally, struct histogram *all);

#endif
