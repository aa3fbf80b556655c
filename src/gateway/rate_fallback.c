#include "gateway/rate_fallback.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

enum { SETS = 8192, WAYS = 4 };

struct counter {
    uint64_t caller; /* hash; 0: unused */
    int64_t began_ns;
    uint32_t count, previous; /* in this window, in the one before */
};

struct rate_fallback {
    pthread_mutex_t mutex;
    struct counter counters[SETS][WAYS];
};

struct rate_fallback *rate_fallback_create(void)
{
    struct rate_fallback *fallback = calloc(1, sizeof(*fallback));
    if (fallback)
        pthread_mutex_init(&fallback->mutex, NULL);
    return fallback;
}

void rate_fallback_destroy(struct rate_fallback *fallback)
{
    pthread_mutex_destroy(&fallback->mutex);
    free(fallback);
}

/* The caller's, else that of the one who came longest ago, for the caller. */
static struct counter *find(struct rate_fallback *fallback, uint64_t caller, int64_t now)
{
    struct counter *set = fallback->counters[caller % SETS], *oldest = &set[0];
    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].caller == caller)
            return &set[i];
        if (set[i].began_ns < oldest->began_ns)
            oldest = &set[i];
    }
    *oldest = (struct counter){.caller = caller, .began_ns = now};
    return oldest;
}

static void slide(struct counter *counter, int64_t now, int64_t window_ns)
{
    int64_t windows = (now - counter->began_ns) / window_ns;
    if (windows == 0)
        return;
    counter->previous = windows == 1 ? counter->count : 0;
    counter->count = 0;
    counter->began_ns += windows * window_ns;
}

static bool has_room(struct rate_fallback *fallback, struct str caller, uint32_t limit, int64_t window_ms, bool counts)
{
    int64_t now = clock_mono_ns(), window_ns = window_ms * NS_PER_MS;
    uint64_t hash = str_hash(caller);
    pthread_mutex_lock(&fallback->mutex);
    struct counter *counter = find(fallback, hash ? hash : 1, now);
    slide(counter, now, window_ns);
    double left = 1.0 - (double)(now - counter->began_ns) / (double)window_ns;
    bool admits = (double)counter->count + (double)counter->previous * left < (double)limit;
    counter->count += admits && counts;
    pthread_mutex_unlock(&fallback->mutex);
    return admits;
}

bool rate_fallback_admits(struct rate_fallback *fallback, struct str caller, uint32_t limit, int64_t window_ms)
{
    return has_room(fallback, caller, limit, window_ms, true);
}

bool rate_fallback_would_admit(struct rate_fallback *fallback, struct str caller, uint32_t limit, int64_t window_ms)
{
    return has_room(fallback, caller, limit, window_ms, false);
}
