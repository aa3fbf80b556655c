#include "services/auth/credentials.h"

#include "base/clock.h"
#include "services/app.h"
#include "services/auth/login_history.h"
#include "services/auth/throttle.h"

struct attempt {
    const struct app *app;
    struct str email_hash;
    const struct visitor *visitor;
    struct account *account;
    bool found, must_wait; /* known before the password is looked at; it is not, of those who must wait */
    bool right, throttled;
    int64_t wait_ms;
};

static bool add_failure(struct tx *tx, const struct attempt *attempt, const char *reason)
{
    struct login_event event = {
        .user_id = attempt->found ? str_from(attempt->account->id) : (struct str){NULL, 0},
        .email_hash = attempt->email_hash,
        .visitor = *attempt->visitor,
        .method = STR("EMAIL"),
        .reason = reason,
        .at = clock_wall_ms(),
    };
    return login_history_add(tx, &event);
}

static bool look_unit(struct tx *tx, void *argument)
{
    struct attempt *attempt = argument;
    attempt->wait_ms = throttle_wait(tx, attempt->email_hash, clock_wall_ms());
    attempt->must_wait = attempt->wait_ms > 0;
    *attempt->account = (struct account){0};
    attempt->found = account_find_by_email(tx, attempt->app->pii, attempt->email_hash, attempt->account);
    return !tx_failed(tx);
}

/* Counted before anybody is told: of many guesses at once, those that are too many learn nothing. */
static bool decide_unit(struct tx *tx, void *argument)
{
    struct attempt *attempt = argument;
    attempt->throttled =
        attempt->must_wait || !throttle_count(tx, attempt->email_hash, clock_wall_ms(), &attempt->wait_ms);
    if (tx_failed(tx))
        return false;
    if (attempt->throttled)
        return add_failure(tx, attempt, "throttled");
    return attempt->right || add_failure(tx, attempt, "invalid_credentials");
}

/* One commit for a wrong password, since a flood of them shares the disk with everybody. */
static enum credentials_outcome check(struct attempt *attempt, struct str password)
{
    const struct app *app = attempt->app;
    if (db_read(app->accounts, look_unit, attempt) != DB_OK)
        return CREDENTIALS_UNAVAILABLE;
    if (!attempt->must_wait) {
        enum password_outcome outcome = password_check(app->offload, password, attempt->account->password_hash);
        if (outcome == PASSWORD_BUSY)
            return CREDENTIALS_BUSY;
        attempt->right = outcome == PASSWORD_RIGHT;
    }
    if (db_write(app->accounts, decide_unit, attempt, NULL) != DB_OK)
        return CREDENTIALS_UNAVAILABLE;
    return attempt->throttled ? CREDENTIALS_THROTTLED : attempt->right ? CREDENTIALS_RIGHT : CREDENTIALS_WRONG;
}

enum credentials_outcome credentials_check(const struct app *app, struct str email_hash, struct str password,
                                           const struct visitor *visitor, struct account *account, int64_t *wait_ms)
{
    struct attempt attempt = {.app = app, .email_hash = email_hash, .visitor = visitor, .account = account};
    if (!offload_enter(app->offload)) /* a flood need not trouble the database, too */
        return CREDENTIALS_BUSY;
    enum credentials_outcome outcome = check(&attempt, password);
    offload_leave(app->offload);
    *wait_ms = attempt.wait_ms;
    return outcome;
}
