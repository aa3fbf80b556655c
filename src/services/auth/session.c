/* Sessions begin and are listed; refresh.c lets them go on, session_end.c ends them. */
#include "services/auth/session.h"

#include "base/clock.h"
#include "services/app.h"
#include "services/auth/tokens.h"

enum { SWEPT_AT_ONCE = 10000 };

static const struct statement INSERT_SESSION = {
    .sql = "INSERT INTO sessions (id, user_id, method, address, agent, created_at, last_used_at, expires_at) "
           "VALUES ($1, $2, $3, $4, $5, $6, $6, $7)",
};
static const struct statement INSERT_TOKEN = {
    .sql = "INSERT INTO refresh_tokens (token_hash, session_id, access_token_id, access_expires_at, expires_at) "
           "VALUES ($1, $2, $3, $4, $5)",
};
static const struct statement SELECT_SESSIONS = {
    .sql = "SELECT id, method, address, agent, created_at, last_used_at, expires_at FROM sessions "
           "WHERE user_id = $1 AND ended_at IS NULL AND expires_at > $2 ORDER BY last_used_at DESC, id DESC LIMIT $3",
};
static const struct statement SELECT_BEGUN = {
    .sql = "SELECT created_at FROM sessions WHERE id = $1 AND user_id = $2 AND ended_at IS NULL",
};
static const struct statement SWEEP = {
    .sql = "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < $1 LIMIT $2)",
};
static const struct statement WIPE = {
    .sql = "UPDATE sessions SET address = '', agent = '' WHERE user_id = $1",
};

bool session_add_tokens(struct tx *tx, const struct token_pair *pair)
{
    return tx_exec(tx, &INSERT_TOKEN,
                   DB_PARAMS(DB_TEXT(str_make(pair->refresh_hash, TOKEN_HASH_TEXT)),
                             DB_TEXT(str_make(pair->session, UUID_TEXT)), DB_TEXT(str_make(pair->access_id, UUID_TEXT)),
                             DB_INT(pair->access_expires_at), DB_INT(pair->expires_at)));
}

bool session_begin(struct tx *tx, const struct token_pair *pair, struct str user_id, struct str method,
                   const struct visitor *visitor)
{
    return tx_exec(tx, &INSERT_SESSION,
                   DB_PARAMS(DB_TEXT(str_make(pair->session, UUID_TEXT)), DB_TEXT(user_id), DB_TEXT(method),
                             DB_TEXT(visitor->address), DB_TEXT(visitor->agent), DB_INT(pair->now),
                             DB_INT(pair->expires_at))) &&
           session_add_tokens(tx, pair);
}

/* Listing. */

struct listing {
    struct str user_id, current;
    int64_t now;
    struct buf *out;
};

static void add_time(struct json_writer *json, const char *name, int64_t wall_ms)
{
    char text[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(wall_ms, text);
    json_member_string(json, name, str_from(text));
}

static void add_session(struct json_writer *json, struct rows *rows, struct str current)
{
    json_begin_object(json);
    json_member_string(json, "id", row_text(rows, "id"));
    json_member_bool(json, "current", str_eq(row_text(rows, "id"), current));
    json_member_string(json, "method", row_text(rows, "method"));
    json_member_string(json, "ip", row_text(rows, "address"));
    json_member_string(json, "userAgent", row_text(rows, "agent"));
    add_time(json, "createdAt", row_int(rows, "created_at"));
    add_time(json, "lastUsedAt", row_int(rows, "last_used_at"));
    add_time(json, "expiresAt", row_int(rows, "expires_at"));
    json_end_object(json);
}

static bool list_unit(struct tx *tx, void *argument)
{
    struct listing *listing = argument;
    buf_clear(listing->out);
    struct json_writer json = json_write_to(listing->out);
    struct rows *rows = tx_query(tx, &SELECT_SESSIONS,
                                 DB_PARAMS(DB_TEXT(listing->user_id), DB_INT(listing->now), DB_INT(SESSIONS_SHOWN)));
    json_begin_array(&json);
    while (rows_next(rows))
        add_session(&json, rows, listing->current);
    json_end_array(&json);
    return !tx_failed(tx) && !listing->out->failed;
}

enum db_outcome sessions_list(struct db *db, struct str user_id, struct str current, struct buf *out)
{
    struct listing listing = {.user_id = user_id, .current = current, .now = clock_wall_ms(), .out = out};
    return db_read(db, list_unit, &listing);
}

struct beginning {
    struct str user_id, session;
    int64_t at;
};

static bool begun_unit(struct tx *tx, void *argument)
{
    struct beginning *beginning = argument;
    struct rows *rows =
        tx_query(tx, &SELECT_BEGUN, DB_PARAMS(DB_TEXT(beginning->session), DB_TEXT(beginning->user_id)));
    beginning->at = rows_next(rows) ? row_int(rows, "created_at") : 0;
    return !tx_failed(tx);
}

enum db_outcome session_begun_at(struct db *db, struct str user_id, struct str session, int64_t *begun_at)
{
    struct beginning beginning = {.user_id = user_id, .session = session};
    enum db_outcome outcome = db_read(db, begun_unit, &beginning);
    *begun_at = beginning.at;
    return outcome;
}

bool sessions_sweep(struct tx *tx, int64_t before)
{
    return tx_exec(tx, &SWEEP, DB_PARAMS(DB_INT(before), DB_INT(SWEPT_AT_ONCE)));
}

bool sessions_wipe(struct tx *tx, struct str user_id)
{
    return tx_exec(tx, &WIPE, DB_PARAMS(DB_TEXT(user_id)));
}
