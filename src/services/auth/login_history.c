#include "services/auth/login_history.h"

#include "base/clock.h"

enum { SWEPT_AT_ONCE = 10000 };

static const struct statement ADD = {
    .sql = "INSERT INTO login_history (user_id, email_hash, at, address, agent, method, success, reason) "
           "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
};
static const struct statement WIPE = {
    .sql = "UPDATE login_history SET email_hash = NULL, address = '', agent = '' WHERE user_id = $1",
};
static const struct statement SWEEP = {
    .sql = "DELETE FROM login_history WHERE id IN (SELECT id FROM login_history WHERE at < $1 LIMIT $2)",
};
static const struct statement SELECT_NEWEST = {
    .sql = "SELECT id, at, address, agent, method, success, reason FROM login_history WHERE user_id = $1 "
           "ORDER BY id DESC LIMIT $2",
};

bool login_history_add(struct tx *tx, const struct login_event *event)
{
    return tx_exec(tx, &ADD,
                   DB_PARAMS(DB_TEXT(event->user_id), DB_TEXT(event->email_hash), DB_INT(event->at),
                             DB_TEXT(event->visitor.address), DB_TEXT(event->visitor.agent), DB_TEXT(event->method),
                             DB_BOOL(event->reason == NULL), DB_TEXT(str_from(event->reason))));
}

bool login_history_wipe(struct tx *tx, struct str user_id)
{
    return tx_exec(tx, &WIPE, DB_PARAMS(DB_TEXT(user_id)));
}

bool login_history_sweep(struct tx *tx, int64_t before)
{
    return tx_exec(tx, &SWEEP, DB_PARAMS(DB_INT(before), DB_INT(SWEPT_AT_ONCE)));
}

struct listing {
    struct str user_id;
    struct buf *out;
};

static void add_line(struct json_writer *json, struct rows *rows)
{
    char at[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(row_int(rows, "at"), at);
    json_begin_object(json);
    json_member_int(json, "id", row_int(rows, "id"));
    json_member_string(json, "at", str_from(at));
    json_member_string(json, "ip", row_text(rows, "address"));
    json_member_string(json, "userAgent", row_text(rows, "agent"));
    json_member_string(json, "method", row_text(rows, "method"));
    json_member_bool(json, "success", row_bool(rows, "success"));
    json_member_string_or_null(json, "reason", row_text(rows, "reason"));
    json_end_object(json);
}

static bool list_unit(struct tx *tx, void *argument)
{
    struct listing *listing = argument;
    buf_clear(listing->out);
    struct json_writer json = json_write_to(listing->out);
    struct rows *rows = tx_query(tx, &SELECT_NEWEST, DB_PARAMS(DB_TEXT(listing->user_id), DB_INT(LOGINS_SHOWN)));
    json_begin_array(&json);
    while (rows_next(rows))
        add_line(&json, rows);
    json_end_array(&json);
    return !tx_failed(tx) && !listing->out->failed;
}

enum db_outcome login_history_list(struct db *db, struct str user_id, struct buf *out)
{
    struct listing listing = {user_id, out};
    return db_read(db, list_unit, &listing);
}
