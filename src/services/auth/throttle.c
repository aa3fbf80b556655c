#include "services/auth/throttle.h"

#include "base/clock.h"

static const int64_t WINDOW_MS = 15 * 60 * MS_PER_S;

/* $3: failures before that are forgotten. The fifth and each further one is followed by a longer wait. */
static const struct statement COUNT_ATTEMPT = {
    .sql = "INSERT INTO login_failures AS f (email_hash, failures, last_at, blocked_until) VALUES ($1, 1, $2, 0) "
           "ON CONFLICT (email_hash) DO UPDATE SET "
           "failures = CASE WHEN f.last_at <= $3 THEN 1 ELSE f.failures + 1 END, last_at = $2, "
           "blocked_until = CASE WHEN f.last_at <= $3 OR f.failures < 4 THEN 0 WHEN f.failures = 4 THEN $2 + 60000 "
           "WHEN f.failures = 5 THEN $2 + 120000 WHEN f.failures = 6 THEN $2 + 240000 "
           "WHEN f.failures = 7 THEN $2 + 480000 ELSE $2 + 900000 END "
           "WHERE f.blocked_until <= $2",
};
static const struct statement SELECT_WAIT = {
    .sql = "SELECT blocked_until FROM login_failures WHERE email_hash = $1",
};
static const struct statement FORGIVE = {
    .sql = "DELETE FROM login_failures WHERE email_hash = $1",
};
static const struct statement SWEEP = {
    .sql = "DELETE FROM login_failures WHERE last_at <= $1 AND blocked_until <= $2",
};

int64_t throttle_wait(struct tx *tx, struct str email_hash, int64_t now)
{
    struct rows *rows = tx_query(tx, &SELECT_WAIT, DB_PARAMS(DB_TEXT(email_hash)));
    int64_t until = rows_next(rows) ? row_int(rows, "blocked_until") : now;
    return until > now ? until - now : 0;
}

bool throttle_count(struct tx *tx, struct str email_hash, int64_t now, int64_t *wait_ms)
{
    if (!tx_exec(tx, &COUNT_ATTEMPT, DB_PARAMS(DB_TEXT(email_hash), DB_INT(now), DB_INT(now - WINDOW_MS))))
        return false;
    if (tx_changes(tx) == 1)
        return true;
    *wait_ms = throttle_wait(tx, email_hash, now);
    return false;
}

bool throttle_forgive(struct tx *tx, struct str email_hash)
{
    return tx_exec(tx, &FORGIVE, DB_PARAMS(DB_TEXT(email_hash)));
}

bool throttle_sweep(struct tx *tx, int64_t now)
{
    return tx_exec(tx, &SWEEP, DB_PARAMS(DB_INT(now - WINDOW_MS), DB_INT(now)));
}
