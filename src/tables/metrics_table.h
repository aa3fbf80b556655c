/* What counting (metrics.c) and showing (metrics_render.c) share; nobody else's. */
#ifndef TABLES_METRICS_TABLE_H
#define TABLES_METRICS_TABLE_H

#include "tables/metrics.h"

/* Upper bounds of the buckets in nanoseconds; one more bucket takes the rest. */
enum { METRIC_BOUNDS = 14, METRIC_BUCKETS = METRIC_BOUNDS + 1, METRIC_HISTOGRAM_WIDTH = METRIC_BUCKETS + 1 };
extern const int64_t metric_bounds[METRIC_BOUNDS];

struct metric_row {
    const char *name;
    enum metric_type type;
    enum metric_label first, second;
    const char *help;
};
extern const struct metric_row metric_rows[METRIC_COUNT];

struct metric_label_row {
    const char *name;
    const char *values; /* "a|b|c" */
};
extern const struct metric_label_row metric_label_rows[METRIC_LABEL_COUNT];

/* The number at this place, over all shards. */
int64_t metrics_sum(size_t at);

/* `method="GET",route="/api/v1/seats"`; NULL when the route has no name. */
const char *metrics_route_name(size_t index);

/* False when nobody watches the metric. */
bool metrics_read(enum metric metric, size_t label, double *value);

/* Tells the process_* metrics and the build. */
void metrics_watch_process(void);

/* Makes metric_places and the process's watchers, once. */
void metrics_prepare(void);

#endif
