/*
 * When users come, as said in a few words:
 *
 *     spike 2s                                 all users within two seconds
 *     constant 500/s                           one every two milliseconds
 *     poisson 500/s                            500 a second on average, independent of each other, as crowds are
 *     ramp 10/s->2000/s over 30s               more and more, or fewer and fewer
 *     replay arrivals.txt                      a line for each: seconds since the start
 *     constant 50/s for 10s, spike 5000 in 1s, poisson 300/s      one after the other
 *
 * The moments follow from the words and a seed alone, never from an answer: a server that is slow is asked as
 * often as one that is fast. Threads that have the same curve and seed see the same moments, so each can pick its own
 * without asking the others. An `arrivals` belongs to one thread.
 */
#ifndef REHEARSE_ARRIVAL_H
#define REHEARSE_ARRIVAL_H

#include "base/buf.h"

enum { ARRIVAL_PHASES_MAX = 16, ARRIVAL_REPLAY_MAX = 10000000 };

enum arrival_shape { ARRIVAL_SPIKE, ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_RAMP, ARRIVAL_REPLAY };

struct arrival_phase {
    enum arrival_shape shape;
    double from, to;     /* users per second */
    int64_t duration_ns; /* 0: until users or time are used up */
    uint64_t users;      /* of a spike; 0: all that are left */
};

struct arrival_curve {
    struct arrival_phase phases[ARRIVAL_PHASES_MAX];
    size_t count;
    int64_t *replay; /* sorted ns since the start; owned */
    size_t replay_count;
};

/* False with a sentence in *problem that names the bad part. Reads the file of a replay. */
__attribute__((warn_unused_result)) bool arrival_parse(struct str text, struct arrival_curve *curve,
                                                       struct buf *problem);
void arrival_free(struct arrival_curve *curve);

/* Does the curve say by itself when it ends? A spike needs a number of users, a rate needs them or a duration. */
bool arrival_needs_users(const struct arrival_curve *curve);
bool arrival_is_endless(const struct arrival_curve *curve);

struct arrivals {
    const struct arrival_curve *curve;
    uint64_t random; /* state of its own generator */
    uint64_t users, given;
    int64_t duration_ns; /* of the whole; 0 for none */
    size_t phase;
    int64_t phase_start_ns;
    double phase_users; /* how many the phase has given */
    double at;          /* seconds since the phase's start, of the last one */
};

/* `users` and `duration_ns` end the arrivals, whichever comes first; 0 means no such end. */
struct arrivals arrivals_start(const struct arrival_curve *curve, uint64_t users, int64_t duration_ns, uint64_t seed);

/* When the next user comes, in ns since the start; never less than before. False: nobody comes any more. */
bool arrivals_next(struct arrivals *arrivals, int64_t *ns);

#endif
