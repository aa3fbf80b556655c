/* How a session goes on: a refresh token is used up for the next pair (session.h). */
#include "base/clock.h"
#include "services/app.h"
#include "services/auth/session.h"
#include "services/auth/tokens.h"

#include <assert.h>

/* The guard of rotation: of two who come with one token, one changes the row. */
static const struct statement USE_TOKEN = {
    .sql = "UPDATE refresh_tokens SET used_at = $2 WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 "
           "RETURNING session_id",
};
static const struct statement SELECT_USED = {
    .sql = "SELECT s.id, s.user_id, t.used_at FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id "
           "WHERE t.token_hash = $1 AND t.used_at IS NOT NULL AND s.ended_at IS NULL",
};
static const struct statement SELECT_UNUSED = {
    .sql = "SELECT access_token_id, access_expires_at, expires_at FROM refresh_tokens "
           "WHERE token_hash = $1 AND session_id = $2 AND used_at IS NULL",
};
/* Locks the session's row, so that it cannot end while a new token is being added to it. */
static const struct statement CONTINUE_SESSION = {
    .sql = "UPDATE sessions SET last_used_at = $2, expires_at = $3, address = $4, agent = $5 "
           "WHERE id = $1 AND ended_at IS NULL RETURNING user_id",
};

struct refreshing {
    const struct app *app;
    char hash[TOKEN_HASH_TEXT];
    const struct visitor *visitor;
    struct token_pair next; /* that will be given for it, if it was not used before */
    struct token_pair *pair;
    struct account *account;
    struct ended_tokens ended;
    enum refresh_outcome outcome;
};

/* A token that was used a moment ago: the pair that was given for it, while nobody has used that one. Nothing is
 * written. If the session ends meanwhile, these are among the tokens that it takes back. */
static bool give_again(struct tx *tx, struct refreshing *refreshing, const struct session_choice *session,
                       int64_t used_at)
{
    struct token_pair *pair = refreshing->pair;
    if (refreshing->next.now - used_at >= REFRESH_AGAIN_S * MS_PER_S)
        return false;
    struct rows *rows =
        tx_query(tx, &SELECT_UNUSED,
                 DB_PARAMS(DB_TEXT(str_make(pair->refresh_hash, TOKEN_HASH_TEXT)), DB_TEXT(session->only)));
    if (!rows_next(rows))
        return false;
    struct str access_id = row_text(rows, "access_token_id");
    assert(access_id.len == UUID_TEXT);
    memcpy(pair->access_id, access_id.ptr, UUID_TEXT);
    memcpy(pair->session, session->only.ptr, UUID_TEXT);
    pair->now = used_at; /* when these were made */
    pair->access_expires_at = row_int(rows, "access_expires_at");
    pair->expires_at = row_int(rows, "expires_at");
    return true;
}

/* A used token came again. Of a session that has ended already it is only unknown. */
static bool use_again(struct tx *tx, struct refreshing *refreshing)
{
    struct rows *rows = tx_query(tx, &SELECT_USED, DB_PARAMS(DB_TEXT(str_make(refreshing->hash, TOKEN_HASH_TEXT))));
    refreshing->outcome = REFRESH_UNKNOWN;
    if (!rows_next(rows))
        return !tx_failed(tx);
    struct session_choice session = {
        .user_id = arena_copy(tx_arena(tx), row_text(rows, "user_id")),
        .only = arena_copy(tx_arena(tx), row_text(rows, "id")),
    };
    if (give_again(tx, refreshing, &session, row_int(rows, "used_at"))) {
        if (account_find_by_id(tx, refreshing->app->pii, session.user_id, refreshing->account))
            refreshing->outcome = REFRESH_DONE;
        return !tx_failed(tx);
    }
    refreshing->outcome = REFRESH_REUSED;
    return !tx_failed(tx) && sessions_end(tx, &session, refreshing->next.now, &refreshing->ended);
}

/* The text of the first row's column, in the unit's arena; ptr NULL when there is no row. */
static struct str first_text(struct tx *tx, struct rows *rows, const char *column)
{
    return rows_next(rows) ? arena_copy(tx_arena(tx), row_text(rows, column)) : (struct str){NULL, 0};
}

static bool refresh_unit(struct tx *tx, void *argument)
{
    struct refreshing *refreshing = argument;
    struct token_pair *pair = refreshing->pair;
    const struct visitor *visitor = refreshing->visitor;
    struct str hash = str_make(refreshing->hash, TOKEN_HASH_TEXT);
    *pair = refreshing->next;
    struct rows *used = tx_query(tx, &USE_TOKEN, DB_PARAMS(DB_TEXT(hash), DB_INT(pair->now)));
    struct str session = first_text(tx, used, "session_id");
    if (!session.ptr)
        return !tx_failed(tx) && use_again(tx, refreshing);

    memcpy(pair->session, session.ptr, UUID_TEXT);
    struct rows *continued = tx_query(tx, &CONTINUE_SESSION,
                                      DB_PARAMS(DB_TEXT(session), DB_INT(pair->now), DB_INT(pair->expires_at),
                                                DB_TEXT(visitor->address), DB_TEXT(visitor->agent)));
    struct str user = first_text(tx, continued, "user_id");
    refreshing->outcome = REFRESH_UNKNOWN;
    if (!user.ptr || !account_find_by_id(tx, refreshing->app->pii, user, refreshing->account))
        return !tx_failed(tx);
    refreshing->outcome = REFRESH_DONE;
    return session_add_tokens(tx, pair);
}

enum refresh_outcome session_refresh(const struct app *app, struct str token, const struct visitor *visitor,
                                     struct token_pair *pair, struct account *account)
{
    if (token.len != REFRESH_TEXT)
        return REFRESH_UNKNOWN;
    struct refreshing refreshing = {
        .app = app,
        .visitor = visitor,
        .next = token_pair_after(app, token),
        .pair = pair,
        .account = account,
        .ended = ENDED_TOKENS_INIT,
    };
    token_hash(token, refreshing.hash);
    bool done = db_write(app->accounts, refresh_unit, &refreshing, NULL) == DB_OK;
    ended_tokens_announce(app, &refreshing.ended, done);
    return done ? refreshing.outcome : REFRESH_UNAVAILABLE;
}
