#include "rehearse/timeline.h"

#include "base/clock.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct slice join(const struct slice *a, const struct slice *b)
{
    return (struct slice){
        .requests = a->requests + b->requests,
        .answered = a->answered + b->answered,
        .sold = a->sold + b->sold,
        .errors = a->errors + b->errors,
        .p50 = larger(a->p50, b->p50),
        .p99 = larger(a->p99, b->p99),
        .max = larger(a->max, b->max),
    };
}

void timeline_init(struct timeline *timeline)
{
    memset(timeline, 0, sizeof(*timeline));
    timeline->slice_ns = TIMELINE_FIRST_SLICE_MS * NS_PER_MS;
}

static struct slice slice_since(struct timeline *timeline, const struct tally *tally)
{
    struct histogram now, since;
    tally_latency(tally, &now);
    histogram_since(&now, &timeline->latency, &since);
    uint64_t errors = tally_errors(tally);
    struct slice slice = {
        .requests = tally->requests - timeline->requests,
        .answered = tally->answered - timeline->answered,
        .sold = tally->sold - timeline->sold,
        .errors = errors - timeline->errors,
        .p50 = histogram_percentile(&since, 0.5),
        .p99 = histogram_percentile(&since, 0.99),
        .max = since.max,
    };
    timeline->requests = tally->requests;
    timeline->answered = tally->answered;
    timeline->sold = tally->sold;
    timeline->errors = errors;
    timeline->latency = now;
    return slice;
}

static void halve(struct timeline *timeline)
{
    for (size_t i = 0; i < TIMELINE_MAX / 2; i++)
        timeline->slices[i] = join(&timeline->slices[2 * i], &timeline->slices[2 * i + 1]);
    timeline->count = TIMELINE_MAX / 2;
    timeline->slice_ns *= 2;
}

void timeline_finish(struct timeline *timeline)
{
    if (!timeline->merged)
        return;
    if (timeline->count == TIMELINE_MAX)
        halve(timeline);
    timeline->slices[timeline->count++] = timeline->filling;
    timeline->filling = (struct slice){0};
    timeline->merged = 0;
}

void timeline_add(struct timeline *timeline, const struct tally *tally)
{
    struct slice slice = slice_since(timeline, tally);
    timeline->filling = join(&timeline->filling, &slice);
    timeline->merged++;
    if ((int64_t)timeline->merged * TIMELINE_FIRST_SLICE_MS * NS_PER_MS >= timeline->slice_ns)
        timeline_finish(timeline);
}
