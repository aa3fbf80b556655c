/*
 * Counting what happens, for Prometheus. The metrics stand in metrics.def:
 *
 *     metric_add(METRIC_HTTP_REQUESTS, 1, route->index, status / 100 - 1);
 *     metric_observe(METRIC_HTTP_REQUEST_DURATION, clock_mono_ns() - started, route->index);
 *
 * Any thread may count. Each thread writes to a shard of its own with plain
 * stores, so counting costs a few nanoseconds and no lock; metrics_render adds
 * the shards up. A thread that ends leaves its shard to the next one that begins.
 */
#ifndef TABLES_METRICS_H
#define TABLES_METRICS_H

#include "base/buf.h"

#include <stdatomic.h>

enum { METRIC_ROUTES = 256 }; /* the last one stands for all further routes and for no route */

enum metric_label {
    METRIC_LABEL_NONE,
    METRIC_LABEL_ROUTE,
#define METRIC_LABEL(label, name, values) METRIC_LABEL_##label,
#define METRIC(metric, name, type, first, second, help)
#include "tables/metrics.def"
#undef METRIC_LABEL
#undef METRIC
    METRIC_LABEL_COUNT
};

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_WATCHED_GAUGE, METRIC_WATCHED_COUNTER };

enum metric {
#define METRIC_LABEL(label, name, values)
#define METRIC(metric, name, type, first, second, help) METRIC_##metric,
#include "tables/metrics.def"
#undef METRIC_LABEL
#undef METRIC
    METRIC_COUNT
};

/* Where a metric's numbers lie in a shard; made at the first use. */
struct metric_place {
    size_t at;                        /* the first series */
    size_t first_count, second_count; /* values of its labels */
    size_t width;                     /* numbers of a series: 1, or those of a histogram */
};
extern struct metric_place metric_places[METRIC_COUNT];

/* This thread's numbers, NULL before its first count. */
extern _Thread_local _Atomic int64_t *metrics_shard;
_Atomic int64_t *metrics_shard_begin(void);

static inline _Atomic int64_t *metric_series(enum metric metric, const size_t labels[2])
{
    _Atomic int64_t *shard = metrics_shard ? metrics_shard : metrics_shard_begin();
    const struct metric_place *place = &metric_places[metric];
    size_t first = labels[0] < place->first_count ? labels[0] : place->first_count - 1;
    size_t second = labels[1] < place->second_count ? labels[1] : place->second_count - 1;
    return shard + place->at + (first * place->second_count + second) * place->width;
}

/* Only this thread writes, so there is nothing to lock: a load and a store. */
static inline void metric_add_to(_Atomic int64_t *number, int64_t add)
{
    atomic_store_explicit(number, atomic_load_explicit(number, memory_order_relaxed) + add, memory_order_relaxed);
}

/* Counters only grow; a gauge may be added to on one thread and taken from on another. */
#define metric_add(metric, add, ...) metric_add_to(metric_series((metric), (const size_t[2]){__VA_ARGS__}), (add))

void metric_observe_in(_Atomic int64_t *series, int64_t ns);
#define metric_observe(metric, ns, ...) metric_observe_in(metric_series((metric), (const size_t[2]){__VA_ARGS__}), (ns))

/* Before the server runs: what the route's label says. The method and path are copied. */
void metrics_name_route(size_t index, struct str method, struct str path);

/* Who tells a watched metric: read(context, place of the first label's value), called on the scraping thread.
 * The latest watcher counts; NULL ends it, and the metric is then left out. */
typedef double metric_read_fn(void *context, size_t label);
void metrics_watch(enum metric metric, metric_read_fn *read, void *context);

/* All metrics in the text format 0.0.4. */
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"
void metrics_render(struct buf *out);

#endif
