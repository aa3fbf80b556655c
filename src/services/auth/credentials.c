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
    int64_t wait_ms;
    bool found, throttled;
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

static bool begin_unit(struct tx *tx, void *argument)
{
    struct attempt *attempt = argument;
    bool admitted = throttle_begin(tx, attempt->email_hash, clock_wall_ms(), &attempt->wait_ms);
    attempt->throttled = !admitted;
    *attempt->account = (struct account){0};
    attempt->found = account_find_by_email(tx, attempt->app->pii, attempt->email_hash, attempt->account);
    return !tx_failed(tx) && (admitted || add_failure(tx, attempt, "throttled"));
}

static bool failed_unit(struct tx *tx, void *argument)
{
    const struct attempt *attempt = argument;
    return add_failure(tx, attempt, "invalid_credentials");
}

static bool take_back_unit(struct tx *tx, void *argument)
{
    const struct attempt *attempt = argument;
    return throttle_take_back(tx, attempt->email_hash);
}

static enum credentials_outcome check(struct attempt *attempt, struct str password)
{
    const struct app *app = attempt->app;
    if (db_write(app->accounts, begin_unit, attempt, NULL) != DB_OK)
        return CREDENTIALS_UNAVAILABLE;
    if (attempt->throttled)
        return CREDENTIALS_THROTTLED;
    switch (password_check(app->offload, password, attempt->account->password_hash)) {
    case PASSWORD_RIGHT: return CREDENTIALS_RIGHT;
    case PASSWORD_WRONG:
        return db_write(app->accounts, failed_unit, attempt, NULL) == DB_OK ? CREDENTIALS_WRONG
                                                                            : CREDENTIALS_UNAVAILABLE;
    case PASSWORD_BUSY: break;
    }
    return db_write(app->accounts, take_back_unit, attempt, NULL) == DB_OK ? CREDENTIALS_BUSY : CREDENTIALS_UNAVAILABLE;
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
