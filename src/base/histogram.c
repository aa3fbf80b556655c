#include "base/histogram.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Below 256 a bucket is a value. Above, the top eight bits of a value name its bucket. */
static size_t bucket_of(uint64_t value)
{
    if (value > HISTOGRAM_LARGEST)
        value = HISTOGRAM_LARGEST;
    unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);
    unsigned shift = bits > 8 ? bits - 8 : 0;
    return shift * HISTOGRAM_STEPS + (size_t)(value >> shift);
}

static unsigned shift_of(size_t bucket)
{
    return bucket < 2 * (size_t)HISTOGRAM_STEPS ? 0 : (unsigned)(bucket / HISTOGRAM_STEPS - 1);
}

/* In the middle of the bucket, so that the error is half its width. */
static uint64_t value_of(size_t bucket)
{
    unsigned shift = shift_of(bucket);
    uint64_t lowest = (uint64_t)(bucket - shift * (size_t)HISTOGRAM_STEPS) << shift;
    return lowest + ((UINT64_C(1) << shift) >> 1);
}

void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->counts[bucket_of(value)]++;
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    if (from->count == 0)
        return;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->counts[i] += from->counts[i];
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
}

void histogram_since(const struct histogram *now, const struct histogram *before, struct histogram *out)
{
    histogram_clear(out);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        out->counts[i] = now->counts[i] - before->counts[i];
        if (!out->counts[i])
            continue;
        if (out->count == 0)
            out->min = value_of(i);
        out->max = value_of(i);
        out->count += out->counts[i];
    }
    out->sum = now->sum - before->sum;
    if (out->max > now->max || now->max > before->max)
        out->max = now->max;
}

uint64_t histogram_percentile(const struct histogram *histogram, double share)
{
    if (histogram->count == 0)
        return 0;
    uint64_t rank = (uint64_t)ceil(share * (double)histogram->count);
    if (rank >= histogram->count)
        return histogram->max;
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->counts[i];
        if (seen >= rank && seen > 0) {
            uint64_t value = value_of(i);
            return value < histogram->min ? histogram->min : value > histogram->max ? histogram->max : value;
        }
    }
    return histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->count ? (double)histogram->sum / (double)histogram->count : 0;
}
