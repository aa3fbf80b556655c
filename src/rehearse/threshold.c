#include "rehearse/threshold.h"

#include "rehearse/quantity.h"

#include <stdio.h>

enum measure {
    MEASURE_P50,
    MEASURE_P90,
    MEASURE_P95,
    MEASURE_P99,
    MEASURE_P999,
    MEASURE_MAX,
    MEASURE_MEAN,
    MEASURE_ERRORS,
    MEASURE_TIMEOUTS,
    MEASURE_SOLD,
    MEASURE_ANSWERED,
    MEASURE_RATE,
    MEASURE_REASON, /* how often an answer had this reason; the name is the reason's */
    MEASURE_COUNT
};

static const struct {
    const char *name;
    enum threshold_unit unit;
    double percentile;
} measures[MEASURE_COUNT] = {
    [MEASURE_P50] = {"p50", THRESHOLD_DURATION, 0.5},
    [MEASURE_P90] = {"p90", THRESHOLD_DURATION, 0.9},
    [MEASURE_P95] = {"p95", THRESHOLD_DURATION, 0.95},
    [MEASURE_P99] = {"p99", THRESHOLD_DURATION, 0.99},
    [MEASURE_P999] = {"p99.9", THRESHOLD_DURATION, 0.999},
    [MEASURE_MAX] = {"max", THRESHOLD_DURATION, 1},
    [MEASURE_MEAN] = {"mean", THRESHOLD_DURATION, 0},
    [MEASURE_ERRORS] = {"errors", THRESHOLD_COUNT, 0},
    [MEASURE_TIMEOUTS] = {"timeouts", THRESHOLD_COUNT, 0},
    [MEASURE_SOLD] = {"sold", THRESHOLD_COUNT, 0},
    [MEASURE_ANSWERED] = {"answered", THRESHOLD_COUNT, 0},
    [MEASURE_RATE] = {"rate", THRESHOLD_RATE, 0},
    [MEASURE_REASON] = {"a reason of the API", THRESHOLD_COUNT, 0},
};

/* Reasons are the API's; those that a rehearsal can meet. A slip of the pen must not become a bound that never fails.
 */
static const char *const reasons[] = {
    "sold_out",   "duplicate",   "already_reserved",    "not_reserved",   "contention",
    "overloaded", "redis_error", "service_unavailable", "internal_error", "rate_limited",
};

static bool refuse(struct buf *problem, struct str text, const char *why, struct str part)
{
    buf_add_format(problem, "--fail-if '%.*s': %s '%.*s'.", STR_ARG(text), why, STR_ARG(part));
    return false;
}

static bool read_measure(struct str name, struct threshold *threshold)
{
    ptrdiff_t point = str_find_char(name, '.');
    threshold->kind = -1;
    for (int kind = 0; point > 0 && kind < TALLY_KINDS; kind++)
        if (str_eq(str_first(name, (size_t)point), str_from(history_kind_name((enum history_kind)kind))))
            threshold->kind = kind;
    if (threshold->kind >= 0)
        name = str_from_offset(name, (size_t)point + 1);
    for (size_t i = 0; i < MEASURE_REASON; i++) {
        threshold->measure = i;
        threshold->unit = measures[i].unit;
        if (str_eq(name, str_from(measures[i].name)))
            return threshold->kind < 0 || threshold->unit == THRESHOLD_DURATION;
    }
    threshold->measure = MEASURE_REASON;
    threshold->unit = THRESHOLD_COUNT;
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (threshold->kind >= 0 || !str_eq(name, str_from(reasons[i])))
            continue;
        snprintf(threshold->reason, sizeof(threshold->reason), "%s", reasons[i]);
        return true;
    }
    return false;
}

static bool read_bound(struct str text, struct threshold *threshold)
{
    int64_t ns;
    switch (threshold->unit) {
    case THRESHOLD_DURATION:
        if (!quantity_duration(text, &ns))
            return false;
        threshold->bound = (double)ns;
        return true;
    case THRESHOLD_RATE: return quantity_rate(text, &threshold->bound);
    case THRESHOLD_COUNT:
        threshold->share = quantity_share(text, &threshold->bound);
        return threshold->share || quantity_number(text, &threshold->bound);
    }
    return false;
}

bool threshold_parse(struct str text, struct threshold *threshold, struct buf *problem)
{
    static const char *const kinds_of_bounds[] = {
        [THRESHOLD_DURATION] = "expected a duration like 200ms instead of",
        [THRESHOLD_COUNT] = "expected a number or a share like 0.1% instead of",
        [THRESHOLD_RATE] = "expected a rate like 1000/s instead of",
    };
    *threshold = (struct threshold){0};
    text = str_trim(text);
    size_t at = 0;
    while (at < text.len && text.ptr[at] != '<' && text.ptr[at] != '>')
        at++;
    if (text.len >= THRESHOLD_TEXT_MAX || at == text.len)
        return refuse(problem, str_first(text, THRESHOLD_TEXT_MAX), "expected > or < in",
                      str_first(text, THRESHOLD_TEXT_MAX));
    snprintf(threshold->text, sizeof(threshold->text), "%.*s", STR_ARG(text));
    struct str name = str_trim(str_first(text, at)), bound = str_from_offset(text, at + 1);
    bool equal = bound.len && bound.ptr[0] == '=';
    if (equal)
        bound = str_from_offset(bound, 1);
    if (text.ptr[at] == '>')
        threshold->sign = equal ? THRESHOLD_AT_LEAST : THRESHOLD_ABOVE;
    else
        threshold->sign = equal ? THRESHOLD_AT_MOST : THRESHOLD_BELOW;
    if (!read_measure(name, threshold))
        return refuse(problem, text,
                      "expected p50, p90, p95, p99, p99.9, max or mean (also as claim.p99, release.p99, mine.p99, "
                      "map.p99), errors, timeouts, sold, answered, rate or a reason like sold_out instead of",
                      name);
    bound = str_trim(bound);
    return read_bound(bound, threshold) || refuse(problem, text, kinds_of_bounds[threshold->unit], bound);
}

static double duration_of(const struct threshold *threshold, const struct tally *tally)
{
    static struct histogram all; /* 40 KB, and only the main thread judges */
    const struct histogram *times = &all;
    if (threshold->kind >= 0)
        times = &tally->latency[threshold->kind];
    else
        tally_latency(tally, &all);
    if (threshold->measure == MEASURE_MEAN)
        return histogram_mean(times);
    return (double)histogram_percentile(times, measures[threshold->measure].percentile);
}

static double measure(const struct threshold *threshold, const struct tally *tally, double seconds)
{
    switch ((enum measure)threshold->measure) {
    case MEASURE_ERRORS: return (double)tally_errors(tally);
    case MEASURE_TIMEOUTS: return (double)tally->timeouts;
    case MEASURE_SOLD: return (double)tally->sold;
    case MEASURE_ANSWERED: return (double)tally->answered;
    case MEASURE_RATE: return seconds > 0 ? (double)tally->answered / seconds : 0;
    case MEASURE_REASON: return (double)tally_reason_count(tally, str_from(threshold->reason));
    default: return duration_of(threshold, tally);
    }
}

bool threshold_crossed(const struct threshold *threshold, const struct tally *tally, double seconds, double *found)
{
    *found = measure(threshold, tally, seconds);
    if (threshold->share)
        *found = tally->requests ? *found / (double)tally->requests : 0;
    switch (threshold->sign) {
    case THRESHOLD_ABOVE: return *found > threshold->bound;
    case THRESHOLD_AT_LEAST: return *found >= threshold->bound;
    case THRESHOLD_BELOW: return *found < threshold->bound;
    case THRESHOLD_AT_MOST: return *found <= threshold->bound;
    }
    return true;
}

void threshold_add_found(struct buf *out, const struct threshold *threshold, double found)
{
    const char *name = threshold->measure == MEASURE_REASON ? threshold->reason : measures[threshold->measure].name;
    if (threshold->kind >= 0)
        buf_add_format(out, "%s.", history_kind_name((enum history_kind)threshold->kind));
    buf_add_format(out, "%s is ", name);
    if (threshold->unit == THRESHOLD_DURATION)
        quantity_add_duration(out, found);
    else if (threshold->share)
        buf_add_format(out, "%.3g%%", found * 100);
    else
        buf_add_format(out, "%.6g%s", found, threshold->unit == THRESHOLD_RATE ? "/s" : "");
}
