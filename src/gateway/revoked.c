#include "gateway/revoked.h"

#include "base/clock.h"
#include "base/log.h"
#include "gateway/revoked_set.h"
#include "task/task.h"

#include <stdlib.h>

enum {
    CHECK_MS = 1000,
    NEW_MS = 60 * 1000, /* longer than a unit takes to be committed, and than clocks of servers are apart */
    CHECKS_PER_WHOLE = 60,
    CHECKS_PER_CLEANING = 300,
    TOKEN_ID_MAX = 64,
    READING_S = 5
};

static const struct str CHANNEL = STR_INIT("revoked");

struct revoked {
    struct db *db;
    struct coord *coord;
    struct revoked_set set;
    struct coord_subscription *subscription;
    uv_timer_t check;
    bool reading, again; /* a task reads the table; once more after it */
    bool reading_whole;
    bool whole;       /* the next reading is of the whole table, not of what is new */
    bool cannot_read; /* and that has been logged */
    int checks;
};

static const struct statement INSERT = {
    .sql = "INSERT INTO revoked_tokens (token_id, expires_at, revoked_at) VALUES ($1, $2, $3) "
           "ON CONFLICT (token_id) DO NOTHING",
};
static const struct statement SELECT_UNEXPIRED = {
    .sql = "SELECT token_id, expires_at FROM revoked_tokens WHERE expires_at > $1",
};
static const struct statement SELECT_NEW = {
    .sql = "SELECT token_id, expires_at FROM revoked_tokens WHERE revoked_at > $1",
};
static const struct statement DELETE_EXPIRED = {.sql = "DELETE FROM revoked_tokens WHERE expires_at <= $1"};

static int64_t now_s(void)
{
    return clock_wall_ms() / MS_PER_S;
}

bool revoked_write(struct tx *tx, struct str token_id, int64_t expires_at)
{
    return tx_exec(tx, &INSERT, DB_PARAMS(DB_TEXT(token_id), DB_INT(expires_at), DB_INT(clock_wall_ms())));
}

static void add(struct revoked *revoked, struct str token_id, int64_t expires_at)
{
    if (!revoked_set_add(&revoked->set, token_id, expires_at, now_s()))
        log_error("no room to remember a token that was taken back");
}

void revoked_announce(struct revoked *revoked, struct str token_id, int64_t expires_at)
{
    char message[TOKEN_ID_MAX + 32];
    add(revoked, token_id, expires_at);
    int length = snprintf(message, sizeof(message), "%.*s %lld", STR_ARG(token_id), (long long)expires_at);
    if (length < 0 || (size_t)length >= sizeof(message) ||
        coord_publish(revoked->coord, CHANNEL, str_make(message, (size_t)length)) != COORD_OK)
        log_warn("the other servers were not told of a token that was taken back; they will find it in the database");
}

bool revoked_has(struct revoked *revoked, struct str token_id)
{
    return revoked_set_has(&revoked->set, token_id);
}

/* Reading the table. Rows are added to what is known, never instead of it: somebody may have told of one meanwhile. */

static bool read_rows(struct tx *tx, void *argument)
{
    struct revoked *revoked = argument;
    struct rows *rows = revoked->reading_whole ? tx_query(tx, &SELECT_UNEXPIRED, DB_PARAMS(DB_INT(now_s())))
                                               : tx_query(tx, &SELECT_NEW, DB_PARAMS(DB_INT(clock_wall_ms() - NEW_MS)));
    while (rows_next(rows))
        add(revoked, row_text(rows, "token_id"), row_int(rows, "expires_at"));
    return !tx_failed(tx);
}

static bool delete_rows(struct tx *tx, void *argument)
{
    (void)argument;
    return tx_exec(tx, &DELETE_EXPIRED, DB_PARAMS(DB_INT(now_s())));
}

static void read_table(void *argument)
{
    struct revoked *revoked = argument;
    do {
        revoked->again = false;
        revoked->reading_whole = revoked->whole;
        revoked->whole = false;
        task_set_deadline(clock_mono_ns() + READING_S * NS_PER_S);
        bool failed = db_read(revoked->db, read_rows, revoked) != DB_OK;
        if (failed && !revoked->cannot_read)
            log_warn("cannot read which tokens were taken back; those that are known stay so");
        revoked->cannot_read = failed;
        revoked->whole |= failed; /* it may take longer than what counts as new */
    } while (revoked->again);
    if (++revoked->checks % CHECKS_PER_CLEANING == 0 && db_write(revoked->db, delete_rows, NULL, NULL) != DB_OK)
        log_warn("cannot delete tokens that have expired; it is tried again later");
    revoked->reading = false;
}

static void read_soon(struct revoked *revoked)
{
    if (revoked->reading) {
        revoked->again = true;
        return;
    }
    revoked->reading = true;
    if (!task_start(read_table, revoked))
        revoked->reading = false; /* the next check tries again */
}

static void on_message(void *context, struct str message)
{
    struct str token_id;
    int64_t expires_at;
    if (str_split(&message, ' ', &token_id) && token_id.len <= TOKEN_ID_MAX && str_to_int64(message, &expires_at))
        add(context, token_id, expires_at);
}

static void on_gap(void *context)
{
    struct revoked *revoked = context;
    revoked->whole = true;
    read_soon(revoked);
}

static void on_check(uv_timer_t *timer)
{
    struct revoked *revoked = timer->data;
    if (revoked->checks % CHECKS_PER_WHOLE == 0) {
        revoked_set_forget(&revoked->set, now_s());
        revoked->whole = true;
    }
    read_soon(revoked);
}

struct revoked *revoked_create(struct db *accounts, struct coord *coord)
{
    struct revoked *revoked = calloc(1, sizeof(*revoked));
    if (!revoked)
        return NULL;
    revoked->db = accounts;
    revoked->coord = coord;
    revoked->whole = true;
    revoked_set_init(&revoked->set, REVOKED_MAX);
    return revoked;
}

void revoked_destroy(struct revoked *revoked)
{
    revoked_set_free(&revoked->set);
    free(revoked);
}

void revoked_start(struct revoked *revoked)
{
    uv_timer_init(loop_uv(loop_current()), &revoked->check);
    revoked->check.data = revoked;
    uv_timer_start(&revoked->check, on_check, CHECK_MS, CHECK_MS);
    revoked->subscription =
        coord_subscribe(revoked->coord, CHANNEL,
                        (struct coord_subscriber){.message = on_message, .gap = on_gap, .context = revoked});
    read_soon(revoked); /* also when the shared state cannot be reached */
}

void revoked_stop(struct revoked *revoked)
{
    if (revoked->subscription)
        coord_unsubscribe(revoked->subscription);
    uv_close((uv_handle_t *)&revoked->check, NULL);
}
