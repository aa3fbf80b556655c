#include "tables/metrics_table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MS *INT64_C(1000000)
const int64_t metric_bounds[METRIC_BOUNDS] = {1 MS / 2, 1 MS,   5 MS / 2, 5 MS,    10 MS,   25 MS,   50 MS,
                                              100 MS,   250 MS, 500 MS,   1000 MS, 2500 MS, 5000 MS, 10000 MS};

const struct metric_label_row metric_label_rows[METRIC_LABEL_COUNT] = {
    [METRIC_LABEL_NONE] = {"", ""},
    [METRIC_LABEL_ROUTE] = {"", ""},
#define METRIC_LABEL(label, name, values) {name, values},
#define METRIC(metric, name, type, first, second, help)
#include "tables/metrics.def"
#undef METRIC_LABEL
#undef METRIC
};

const struct metric_row metric_rows[METRIC_COUNT] = {
#define METRIC_LABEL(label, name, values)
#define METRIC(metric, name, type, first, second, help)                                                                \
    {name, METRIC_##type, METRIC_LABEL_##first, METRIC_LABEL_##second, help},
#include "tables/metrics.def"
#undef METRIC_LABEL
#undef METRIC
};

struct metric_place metric_places[METRIC_COUNT];
_Thread_local _Atomic int64_t *metrics_shard;

/* Shards are never freed: their counts belong to the whole. So there are as many
 * as threads ever lived at the same time. */
struct shard {
    struct shard *next;
    bool taken; /* by a thread that lives */
    _Atomic int64_t *numbers;
};

struct watcher {
    metric_read_fn *read;
    void *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for the list of shards and the watchers */
static struct shard *shards;
static size_t shard_numbers;
static struct watcher watchers[METRIC_COUNT];
static char *route_names[METRIC_ROUTES];

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;

static size_t label_count(enum metric_label label)
{
    if (label == METRIC_LABEL_ROUTE)
        return METRIC_ROUTES;
    size_t count = 1;
    for (const char *at = metric_label_rows[label].values; *at; at++)
        count += *at == '|';
    return count;
}

static void leave_shard(void *argument)
{
    struct shard *shard = argument;
    pthread_mutex_lock(&lock);
    shard->taken = false;
    pthread_mutex_unlock(&lock);
    metrics_shard = NULL;
}

static _Noreturn void give_up(void)
{
    fputs("tickettock: no memory for the metrics\n", stderr);
    abort();
}

static void prepare(void)
{
    for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &metric_rows[metric];
        struct metric_place *place = &metric_places[metric];
        *place = (struct metric_place){.at = shard_numbers,
                                       .first_count = label_count(row->first),
                                       .second_count = label_count(row->second),
                                       .width = row->type == METRIC_HISTOGRAM ? METRIC_HISTOGRAM_WIDTH : 1};
        shard_numbers += place->first_count * place->second_count * place->width;
    }
    if (pthread_key_create(&thread_end, leave_shard) != 0)
        give_up();
    metrics_watch_process();
}

void metrics_prepare(void)
{
    pthread_once(&prepared, prepare);
}

/* Mapped, not allocated: the pages of metrics that a thread never counts cost nothing. */
static struct shard *create_shard(void)
{
    struct shard *shard = malloc(sizeof(*shard));
    void *numbers =
        mmap(NULL, shard_numbers * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!shard || numbers == MAP_FAILED)
        give_up();
    *shard = (struct shard){.next = shards, .numbers = numbers};
    shards = shard;
    return shard;
}

_Atomic int64_t *metrics_shard_begin(void)
{
    metrics_prepare();
    pthread_mutex_lock(&lock);
    struct shard *shard = shards;
    while (shard && shard->taken)
        shard = shard->next;
    if (!shard)
        shard = create_shard();
    shard->taken = true;
    pthread_mutex_unlock(&lock);
    pthread_setspecific(thread_end, shard);
    metrics_shard = shard->numbers;
    return metrics_shard;
}

void metric_observe_in(_Atomic int64_t *series, int64_t ns)
{
    size_t bucket = 0;
    while (bucket < METRIC_BOUNDS && ns > metric_bounds[bucket])
        bucket++;
    metric_add_to(&series[bucket], 1);
    metric_add_to(&series[METRIC_BUCKETS], ns);
}

int64_t metrics_sum(size_t at)
{
    int64_t sum = 0;
    pthread_mutex_lock(&lock);
    for (struct shard *shard = shards; shard; shard = shard->next)
        sum += atomic_load_explicit(&shard->numbers[at], memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return sum;
}

void metrics_name_route(size_t index, struct str method, struct str path)
{
    if (index >= METRIC_ROUTES - 1)
        return;
    free(route_names[index]);
    if (asprintf(&route_names[index], "method=\"%.*s\",route=\"%.*s\"", STR_ARG(method), STR_ARG(path)) < 0)
        give_up();
}

const char *metrics_route_name(size_t index)
{
    return index == METRIC_ROUTES - 1 ? "method=\"none\",route=\"none\"" : route_names[index];
}

void metrics_watch(enum metric metric, metric_read_fn *read, void *context)
{
    pthread_mutex_lock(&lock);
    watchers[metric] = (struct watcher){.read = read, .context = context};
    pthread_mutex_unlock(&lock);
}

bool metrics_read(enum metric metric, size_t label, double *value)
{
    pthread_mutex_lock(&lock);
    struct watcher watcher = watchers[metric];
    pthread_mutex_unlock(&lock);
    if (!watcher.read)
        return false;
    *value = watcher.read(watcher.context, label);
    return true;
}
