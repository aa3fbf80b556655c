#include "services/auth/sweep.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/auth/identity.h"
#include "services/auth/login_history.h"
#include "services/auth/session.h"
#include "services/auth/throttle.h"
#include "task/task.h"

#include <stdlib.h>

enum { FIRST_MS = 5 * 1000, EVERY_MS = 10 * 60 * 1000, LIMIT_S = 30 };

static const int64_t MS_PER_DAY = 24 * 3600 * MS_PER_S;

struct sweep {
    struct db *db;
    int64_t history_days;
    uv_timer_t timer;
    bool running;
};

struct sweep *sweep_create(struct db *db, int64_t history_days)
{
    struct sweep *sweep = calloc(1, sizeof(*sweep));
    if (sweep) {
        sweep->db = db;
        sweep->history_days = history_days;
    }
    return sweep;
}

void sweep_destroy(struct sweep *sweep)
{
    free(sweep);
}

static bool sweep_unit(struct tx *tx, void *argument)
{
    const struct sweep *sweep = argument;
    int64_t now = clock_wall_ms();
    return throttle_sweep(tx, now) && sessions_sweep(tx, now) && identity_sweep(tx, now) &&
           login_history_sweep(tx, now - sweep->history_days * MS_PER_DAY);
}

static void run(void *argument)
{
    struct sweep *sweep = argument;
    task_set_deadline(clock_mono_ns() + LIMIT_S * NS_PER_S);
    if (db_write(sweep->db, sweep_unit, sweep, NULL) != DB_OK)
        log_warn("what has expired of the accounts could not be dropped; it is tried again later");
    sweep->running = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct sweep *sweep = timer->data;
    if (sweep->running)
        return;
    sweep->running = true;
    if (!task_start(run, sweep))
        sweep->running = false;
}

void sweep_start(struct sweep *sweep)
{
    uv_timer_init(loop_uv(loop_current()), &sweep->timer);
    sweep->timer.data = sweep;
    uv_timer_start(&sweep->timer, on_timer, FIRST_MS, EVERY_MS);
}

void sweep_stop(struct sweep *sweep)
{
    uv_close((uv_handle_t *)&sweep->timer, NULL);
}
