#include "tables/metrics_table.h"

static const char *const type_names[] = {
    [METRIC_COUNTER] = "counter",         [METRIC_GAUGE] = "gauge",
    [METRIC_HISTOGRAM] = "histogram",     [METRIC_WATCHED_GAUGE] = "gauge",
    [METRIC_WATCHED_COUNTER] = "counter",
};

/* A series while it is shown: its labels as text, without braces. */
struct series {
    const struct metric_row *row;
    size_t at;
    struct buf labels;
};

static void add_label(struct buf *labels, enum metric_label label, size_t value)
{
    if (label == METRIC_LABEL_NONE)
        return;
    if (labels->len)
        buf_add_char(labels, ',');
    if (label == METRIC_LABEL_ROUTE) {
        buf_add(labels, str_from(metrics_route_name(value)));
        return;
    }
    struct str rest = str_from(metric_label_rows[label].values), text = {0};
    for (size_t i = 0; i <= value; i++)
        str_split(&rest, '|', &text);
    buf_add_format(labels, "%s=\"%.*s\"", metric_label_rows[label].name, STR_ARG(text));
}

/* name_suffix{labels} */
static void add_name(struct buf *out, const struct series *series, const char *suffix)
{
    buf_add_format(out, "%s%s", series->row->name, suffix);
    if (series->labels.len)
        buf_add_format(out, "{%.*s}", STR_ARG(buf_str(&series->labels)));
    buf_add_char(out, ' ');
}

static void add_number(struct buf *out, const struct series *series, const char *suffix, int64_t number)
{
    add_name(out, series, suffix);
    buf_add_int(out, number);
    buf_add_char(out, '\n');
}

/* Counts in the text are of this bucket and all below it. */
static void add_histogram(struct buf *out, const struct series *series)
{
    int64_t count = 0;
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        count += metrics_sum(series->at + i);
        buf_add_format(out, "%s_bucket{%.*s%sle=\"", series->row->name, STR_ARG(buf_str(&series->labels)),
                       series->labels.len ? "," : "");
        if (i < METRIC_BOUNDS)
            buf_add_format(out, "%g", (double)metric_bounds[i] / 1e9);
        else
            buf_add(out, STR("+Inf"));
        buf_add_format(out, "\"} %lld\n", (long long)count);
    }
    add_name(out, series, "_sum");
    buf_add_format(out, "%.9g\n", (double)metrics_sum(series->at + METRIC_BUCKETS) / 1e9);
    add_number(out, series, "_count", count);
}

static void add_watched(struct buf *out, const struct series *series, enum metric metric, size_t label)
{
    double value;
    if (!metrics_read(metric, label, &value))
        return;
    add_name(out, series, "");
    buf_add_format(out, "%.15g\n", value); /* whole numbers as such: bytes, seconds since 1970 */
}

/* Of the many series by route only those are shown that have counted something. */
static bool is_worth_showing(const struct metric_row *row, const struct metric_place *place, size_t first, size_t at)
{
    if (row->first != METRIC_LABEL_ROUTE)
        return true;
    if (!metrics_route_name(first))
        return false;
    for (size_t i = 0; i < place->width; i++)
        if (metrics_sum(at + i) != 0)
            return true;
    return false;
}

static void add_series(struct buf *out, enum metric metric, size_t first, size_t second)
{
    const struct metric_place *place = &metric_places[metric];
    struct series series = {.row = &metric_rows[metric],
                            .at = place->at + (first * place->second_count + second) * place->width,
                            .labels = BUF_INIT(1024)};
    if (!is_worth_showing(series.row, place, first, series.at))
        return;
    add_label(&series.labels, series.row->first, first);
    add_label(&series.labels, series.row->second, second);
    switch (series.row->type) {
    case METRIC_COUNTER:
    case METRIC_GAUGE: add_number(out, &series, "", metrics_sum(series.at)); break;
    case METRIC_HISTOGRAM: add_histogram(out, &series); break;
    case METRIC_WATCHED_GAUGE:
    case METRIC_WATCHED_COUNTER: add_watched(out, &series, metric, first); break;
    }
    buf_free(&series.labels);
}

void metrics_render(struct buf *out)
{
    metrics_prepare();
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &metric_rows[metric];
        buf_add_format(out, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name, type_names[row->type]);
        for (size_t first = 0; first < metric_places[metric].first_count; first++)
            for (size_t second = 0; second < metric_places[metric].second_count; second++)
                add_series(out, metric, first, second);
    }
}
