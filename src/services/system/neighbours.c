#include "services/system/neighbours.h"

#include "base/clock.h"
#include "base/log.h"
#include "task/task.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    FIRST_MS = 2 * 1000,
    EVERY_MS = 10 * 1000,
    LIMIT_S = 5,
    LOOKS = 2, /* one that is only there while it stops, and we have taken its place, is nothing to warn of */
};

#define ADVICE "Another server uses this database, and without REDIS_URL they do not hear of each other."

struct neighbours {
    struct db *db;
    uv_timer_t timer;
    bool running;
    int looks; /* one after the other that have seen somebody */
    int64_t count;
    atomic_bool present;
};

struct neighbours *neighbours_create(struct db *db)
{
    struct neighbours *neighbours = calloc(1, sizeof(*neighbours));
    if (neighbours)
        neighbours->db = db;
    return neighbours;
}

void neighbours_destroy(struct neighbours *neighbours)
{
    free(neighbours);
}

static bool count_unit(struct tx *tx, void *argument)
{
    struct neighbours *neighbours = argument;
    neighbours->count = tx_other_servers(tx);
    return !tx_failed(tx);
}

static void note(struct neighbours *neighbours)
{
    bool was = atomic_load(&neighbours->present), is;
    neighbours->looks = neighbours->count ? neighbours->looks + 1 : 0;
    is = neighbours->looks >= LOOKS;
    atomic_store(&neighbours->present, is);
    if (is && !was)
        log_warn(ADVICE " Set REDIS_URL on all of them: duplicates, limits and signing out are counted by each for "
                        "itself",
                 LOG_INT("others", neighbours->count));
    if (was && !is)
        log_info("no other server uses this database any more");
}

static void look(void *argument)
{
    struct neighbours *neighbours = argument;
    task_set_deadline(clock_mono_ns() + LIMIT_S * NS_PER_S);
    if (db_read(neighbours->db, count_unit, neighbours) == DB_OK)
        note(neighbours);
    neighbours->running = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct neighbours *neighbours = timer->data;
    if (neighbours->running)
        return;
    neighbours->running = true;
    if (!task_start(look, neighbours))
        neighbours->running = false;
}

void neighbours_start(struct neighbours *neighbours)
{
    uv_timer_init(loop_uv(loop_current()), &neighbours->timer);
    neighbours->timer.data = neighbours;
    uv_timer_start(&neighbours->timer, on_timer, FIRST_MS, EVERY_MS);
}

void neighbours_stop(struct neighbours *neighbours)
{
    uv_close((uv_handle_t *)&neighbours->timer, NULL);
}

const char *neighbours_warning(const struct neighbours *neighbours)
{
    return neighbours && atomic_load(&neighbours->present) ? ADVICE : NULL;
}
