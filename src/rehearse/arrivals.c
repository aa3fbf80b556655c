/* Walking along an arrival curve. */
#include "rehearse/arrival.h"

#include "base/clock.h"

#include <math.h>

/* splitmix64, seeded: every thread must see the same moments. */
static double uniform(struct arrivals *arrivals)
{
    uint64_t z = arrivals->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 1) / 9007199254740992.0; /* above 0, up to 1 */
}

struct arrivals arrivals_start(const struct arrival_curve *curve, uint64_t users, int64_t duration_ns, uint64_t seed)
{
    return (struct arrivals){.curve = curve, .users = users, .duration_ns = duration_ns, .random = seed};
}

static double spike_next(const struct arrivals *arrivals, const struct arrival_phase *phase)
{
    uint64_t before = arrivals->given - (uint64_t)arrivals->phase_users;
    double users = phase->users ? (double)phase->users : (double)(arrivals->users - before);
    double seconds = (double)phase->duration_ns / (double)NS_PER_S;
    return arrivals->phase_users < users ? arrivals->phase_users * seconds / users : INFINITY;
}

/* The area under the line is how many have come: A·t + (B − A)·t²/2T = k, solved for t. */
static double ramp_next(const struct arrivals *arrivals, const struct arrival_phase *phase)
{
    double seconds = (double)phase->duration_ns / (double)NS_PER_S;
    double slope = (phase->to - phase->from) / seconds, k = arrivals->phase_users;
    if (slope == 0)
        return phase->from > 0 ? k / phase->from : INFINITY;
    double square = phase->from * phase->from + 2 * slope * k;
    return square >= 0 ? (sqrt(square) - phase->from) / slope : INFINITY;
}

/* Seconds since the phase's start; INFINITY when the phase has no more. */
static double phase_next(struct arrivals *arrivals, const struct arrival_phase *phase)
{
    const struct arrival_curve *curve = arrivals->curve;
    switch (phase->shape) {
    case ARRIVAL_SPIKE: return spike_next(arrivals, phase);
    case ARRIVAL_CONSTANT: return arrivals->phase_users / phase->from;
    case ARRIVAL_POISSON: return arrivals->at - log(uniform(arrivals)) / phase->from;
    case ARRIVAL_RAMP: return ramp_next(arrivals, phase);
    case ARRIVAL_REPLAY:
        return arrivals->given < curve->replay_count ? (double)curve->replay[arrivals->given] / (double)NS_PER_S
                                                     : INFINITY;
    }
    return INFINITY;
}

bool arrivals_next(struct arrivals *arrivals, int64_t *ns)
{
    if (arrivals->users && arrivals->given >= arrivals->users)
        return false;
    while (arrivals->phase < arrivals->curve->count) {
        const struct arrival_phase *phase = &arrivals->curve->phases[arrivals->phase];
        double at = phase_next(arrivals, phase);
        if (isfinite(at) && (phase->duration_ns == 0 || at * (double)NS_PER_S < (double)phase->duration_ns)) {
            *ns = arrivals->phase_start_ns + (int64_t)(at * (double)NS_PER_S);
            arrivals->at = at;
            arrivals->phase_users++;
            arrivals->given++;
            return !arrivals->duration_ns || *ns < arrivals->duration_ns;
        }
        arrivals->phase_start_ns += phase->duration_ns;
        arrivals->phase_users = arrivals->at = 0;
        arrivals->phase++;
    }
    return false;
}
