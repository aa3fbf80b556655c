/*
 * Counts of durations (or any whole numbers) in buckets that grow with the value, after the idea of HdrHistogram: 128
 * to each doubling, so a percentile is never more than 0.4 % away from the true one, and the memory is the same for ten
 * values as for ten billion. Histograms add up: one per thread, merged when somebody looks. No locks, no allocation.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_STEPS = 128, /* of each doubling */
    HISTOGRAM_SHIFTS = 36,
    HISTOGRAM_BUCKETS = HISTOGRAM_STEPS * (HISTOGRAM_SHIFTS + 2),
};

/* 4.8 hours in ns; what is larger counts as this much, except in `max`. */
#define HISTOGRAM_LARGEST ((UINT64_C(1) << (HISTOGRAM_SHIFTS + 8)) - 1)

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t count;
    uint64_t sum;
    uint64_t min, max; /* exact; both 0 while empty */
};

void histogram_clear(struct histogram *histogram);
void histogram_add(struct histogram *histogram, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);

/* What was added to `now` since it looked like `before`. Its smallest and largest are known to a bucket only. */
void histogram_since(const struct histogram *now, const struct histogram *before, struct histogram *out);

/* The smallest value that is not below this share (0 to 1) of all; 0 when there are none. */
uint64_t histogram_percentile(const struct histogram *histogram, double share);

double histogram_mean(const struct histogram *histogram);

#endif
