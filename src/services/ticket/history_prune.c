#include "services/ticket/history_prune.h"

#include "base/clock.h"
#include "base/log.h"
#include "task/task.h"

#include <stdlib.h>

enum {
    FIRST_MS = 5 * 1000,
    EVERY_MS = 10 * 60 * 1000,
    LIMIT_S = 30, /* for one piece */
    LINES_AT_ONCE = 2000,
    PIECES_AT_MOST = 1000, /* in one round */
    REST_MS = 20,
};

static const int64_t MS_PER_DAY = 24 * 3600 * MS_PER_S;

struct history_prune {
    struct db *db;
    int64_t days;
    uv_timer_t timer;
    bool running;
    bool stopping;
};

/* The next house whose oldest line is old. From house to house by the index, however many lines each has. */
static const struct statement SELECT_HOUSE = {
    .sql = "WITH RECURSIVE next (house) AS ("
           "SELECT min(house_id) FROM reservation_history WHERE house_id > $1 UNION ALL "
           "SELECT (SELECT min(house_id) FROM reservation_history WHERE house_id > house) FROM next "
           "WHERE house IS NOT NULL) "
           "SELECT house FROM next WHERE "
           "(SELECT at FROM reservation_history WHERE house_id = house ORDER BY id LIMIT 1) < $2 LIMIT 1",
};
/* Up to the last old one among the oldest: in the order of ids, even where a clock went back. So a server that catches
 * up knows that nothing is missing after a line that is there (office_sync.c). */
static const struct statement DELETE_OLDEST = {
    .sql = "DELETE FROM reservation_history WHERE house_id = $1 AND id <= (SELECT max(id) FROM "
           "(SELECT id, at FROM reservation_history WHERE house_id = $1 ORDER BY id LIMIT $3) AS oldest WHERE at < $2)",
};

struct history_prune *history_prune_create(struct db *db, int64_t days)
{
    struct history_prune *prune = calloc(1, sizeof(*prune));
    if (prune) {
        prune->db = db;
        prune->days = days;
    }
    return prune;
}

void history_prune_destroy(struct history_prune *prune)
{
    free(prune);
}

struct piece {
    int64_t house, before; /* wall ms */
    int64_t deleted;
};

static bool next_house_unit(struct tx *tx, void *argument)
{
    struct piece *piece = argument;
    struct rows *rows = tx_query(tx, &SELECT_HOUSE, DB_PARAMS(DB_INT(piece->house), DB_INT(piece->before)));
    piece->house = rows_next(rows) ? row_int(rows, "house") : 0;
    return !tx_failed(tx);
}

static bool delete_unit(struct tx *tx, void *argument)
{
    struct piece *piece = argument;
    tx_exec(tx, &DELETE_OLDEST, DB_PARAMS(DB_INT(piece->house), DB_INT(piece->before), DB_INT(LINES_AT_ONCE)));
    piece->deleted = tx_changes(tx);
    return !tx_failed(tx);
}

static bool prune_house(struct history_prune *prune, struct piece *piece, size_t *pieces)
{
    do {
        task_set_deadline(clock_mono_ns() + LIMIT_S * NS_PER_S);
        if (db_write(prune->db, delete_unit, piece, NULL) != DB_OK)
            return false;
        task_sleep(REST_MS);
    } while (piece->deleted == LINES_AT_ONCE && ++*pieces < PIECES_AT_MOST && !prune->stopping);
    return true;
}

static bool prune_all(struct history_prune *prune)
{
    struct piece piece = {.before = clock_wall_ms() - prune->days * MS_PER_DAY};
    for (size_t pieces = 0; pieces < PIECES_AT_MOST && !prune->stopping; pieces++) {
        task_set_deadline(clock_mono_ns() + LIMIT_S * NS_PER_S);
        if (db_read(prune->db, next_house_unit, &piece) != DB_OK)
            return false;
        if (piece.house == 0)
            return true;
        if (!prune_house(prune, &piece, &pieces))
            return false;
    }
    return true;
}

static void run(void *argument)
{
    struct history_prune *prune = argument;
    if (!prune_all(prune))
        log_warn("old lines of history could not be dropped; it is tried again later");
    prune->running = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct history_prune *prune = timer->data;
    if (prune->running)
        return;
    prune->running = true;
    if (!task_start(run, prune))
        prune->running = false;
}

void history_prune_start(struct history_prune *prune)
{
    uv_timer_init(loop_uv(loop_current()), &prune->timer);
    prune->timer.data = prune;
    uv_timer_start(&prune->timer, on_timer, FIRST_MS, EVERY_MS);
}

void history_prune_stop(struct history_prune *prune)
{
    prune->stopping = true;
    uv_close((uv_handle_t *)&prune->timer, NULL);
}
