/* How sessions end (session.h). */
#include "base/clock.h"
#include "gateway/revoked.h"
#include "services/app.h"
#include "services/auth/session.h"
#include "services/auth/tokens.h"

static const struct statement END_SESSIONS = {
    .sql = "UPDATE sessions SET ended_at = $4 WHERE user_id = $1 AND ended_at IS NULL "
           "AND id = COALESCE($2, id) AND id <> COALESCE($3, '')",
};
static const struct statement SELECT_TOKENS = {
    .sql = "SELECT t.access_token_id, t.access_expires_at FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id "
           "WHERE s.user_id = $1 AND s.ended_at = $2 AND t.access_expires_at > $3",
};
static const struct statement SELECT_BY_TOKEN = {
    .sql = "SELECT s.id, s.user_id FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id "
           "WHERE t.token_hash = $1 AND s.ended_at IS NULL",
};

struct ended_token {
    char id[UUID_TEXT];
    int64_t expires_at;
};

static struct ended_token token_at(const struct ended_tokens *ended, size_t index)
{
    struct ended_token token;
    memcpy(&token, ended->list.data + index * sizeof(token), sizeof(token));
    return token;
}

static size_t token_count(const struct ended_tokens *ended)
{
    return ended->list.len / sizeof(struct ended_token);
}

static void collect_tokens(struct tx *tx, const struct session_choice *choice, int64_t now, struct ended_tokens *ended)
{
    struct rows *rows =
        tx_query(tx, &SELECT_TOKENS, DB_PARAMS(DB_TEXT(choice->user_id), DB_INT(now), DB_INT(now / MS_PER_S)));
    while (rows_next(rows)) {
        struct ended_token token = {.expires_at = row_int(rows, "access_expires_at")};
        struct str id = row_text(rows, "access_token_id");
        memcpy(token.id, id.ptr, id.len < UUID_TEXT ? id.len : UUID_TEXT);
        buf_add(&ended->list, str_make((const char *)&token, sizeof(token)));
    }
}

bool sessions_end(struct tx *tx, const struct session_choice *choice, int64_t now, struct ended_tokens *ended)
{
    buf_clear(&ended->list);
    ended->sessions = 0;
    if (!tx_exec(tx, &END_SESSIONS,
                 DB_PARAMS(DB_TEXT(choice->user_id), DB_TEXT(choice->only), DB_TEXT(choice->except), DB_INT(now))))
        return false;
    ended->sessions = (size_t)tx_changes(tx);
    collect_tokens(tx, choice, now, ended);
    for (size_t i = 0; i < token_count(ended); i++) {
        struct ended_token token = token_at(ended, i);
        if (!revoked_write(tx, str_make(token.id, UUID_TEXT), token.expires_at))
            return false;
    }
    return !tx_failed(tx) && !ended->list.failed;
}

void ended_tokens_announce(const struct app *app, struct ended_tokens *ended, bool done)
{
    for (size_t i = 0; done && i < token_count(ended); i++) {
        struct ended_token token = token_at(ended, i);
        revoked_announce(app->revoked, str_make(token.id, UUID_TEXT), token.expires_at);
    }
    buf_free(&ended->list);
}

struct ending {
    struct session_choice choice;
    char hash[TOKEN_HASH_TEXT];
    int64_t now;
    struct ended_tokens ended;
};

static bool end_unit(struct tx *tx, void *argument)
{
    struct ending *ending = argument;
    return sessions_end(tx, &ending->choice, ending->now, &ending->ended);
}

static bool end_by_token_unit(struct tx *tx, void *argument)
{
    struct ending *ending = argument;
    struct rows *rows = tx_query(tx, &SELECT_BY_TOKEN, DB_PARAMS(DB_TEXT(str_make(ending->hash, TOKEN_HASH_TEXT))));
    if (!rows_next(rows))
        return !tx_failed(tx);
    struct session_choice choice = {
        .user_id = arena_copy(tx_arena(tx), row_text(rows, "user_id")),
        .only = arena_copy(tx_arena(tx), row_text(rows, "id")),
    };
    return sessions_end(tx, &choice, ending->now, &ending->ended);
}

static enum db_outcome end(const struct app *app, db_unit *unit, struct ending *ending)
{
    ending->now = clock_wall_ms();
    enum db_outcome outcome = db_write(app->accounts, unit, ending, NULL);
    ended_tokens_announce(app, &ending->ended, outcome == DB_OK);
    return outcome;
}

enum db_outcome sessions_end_now(const struct app *app, const struct session_choice *choice, size_t *count)
{
    struct ending ending = {.choice = *choice, .ended = ENDED_TOKENS_INIT};
    enum db_outcome outcome = end(app, end_unit, &ending);
    if (count)
        *count = ending.ended.sessions;
    return outcome;
}

enum db_outcome session_end_by_token(const struct app *app, struct str token)
{
    struct ending ending = {.ended = ENDED_TOKENS_INIT};
    token_hash(token, ending.hash);
    return end(app, end_by_token_unit, &ending);
}
