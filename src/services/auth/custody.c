#include "services/auth/custody.h"

#include "base/clock.h"
#include "gateway/jwt.h"
#include "services/app.h"
#include "services/auth/session.h"
#include "services/auth/throttle.h"

struct finding {
    const struct app *app;
    struct str email_hash;
    struct account *account;
    bool found;
};

static bool find_unit(struct tx *tx, void *argument)
{
    struct finding *finding = argument;
    finding->found = account_find_by_email(tx, finding->app->pii, finding->email_hash, finding->account);
    return !tx_failed(tx);
}

enum account_outcome custody_find(const struct app *app, struct arena *arena, struct str email, struct account *account)
{
    struct finding finding = {.app = app, .email_hash = account_email_hash(app->pii, arena, email), .account = account};
    if (db_read(app->accounts, find_unit, &finding) != DB_OK)
        return ACCOUNT_UNAVAILABLE;
    return finding.found ? ACCOUNT_OK : ACCOUNT_UNKNOWN;
}

struct change {
    struct account_custody custody;
    struct str email_hash;
    int64_t now;
    struct ended_tokens ended;
};

static bool change_unit(struct tx *tx, void *argument)
{
    struct change *change = argument;
    struct session_choice all = {.user_id = change->custody.id};
    return account_put(tx, &change->custody, change->now) && throttle_forgive(tx, change->email_hash) &&
           sessions_end(tx, &all, change->now, &change->ended);
}

enum account_outcome custody_hand_over(const struct app *app, struct arena *arena, const struct account *account,
                                       struct str password_hash, enum role role)
{
    struct change change = {
        .custody = {.id = str_from(account->id), .password_hash = password_hash},
        .email_hash = account_email_hash(app->pii, arena, str_from(account->email)),
        .now = clock_wall_ms(),
        .ended = ENDED_TOKENS_INIT,
    };
    if (role != ROLE_ANONYMOUS)
        change.custody.role = role_name(role);
    enum db_outcome outcome = db_write(app->accounts, change_unit, &change, NULL);
    ended_tokens_announce(app, &change.ended, outcome == DB_OK);
    switch (outcome) {
    case DB_OK: return ACCOUNT_OK;
    case DB_ROLLED_BACK: return ACCOUNT_UNKNOWN;
    default: return ACCOUNT_UNAVAILABLE;
    }
}

enum account_outcome custody_set_role(const struct app *app, struct arena *arena, const struct account *account,
                                      enum role role)
{
    return custody_hand_over(app, arena, account, (struct str){NULL, 0}, role);
}
