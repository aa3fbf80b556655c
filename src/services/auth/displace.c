#include "services/auth/displace.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/app.h"
#include "services/auth/erasure.h"
#include "services/auth/throttle.h"

struct displacing {
    const struct app *app;
    const struct registration *registration;
    struct str email_hash;
    struct account *account;
    int64_t now;
    struct ended_tokens ended;
};

static bool displace_unit(struct tx *tx, void *argument)
{
    struct displacing *displacing = argument;
    const struct pii *pii = displacing->app->pii;
    struct str id = account_find_unproven(tx, displacing->email_hash);
    return id.ptr && account_displace(tx, pii, id, displacing->registration, displacing->now) &&
           throttle_forgive(tx, displacing->email_hash) &&
           account_erase_traces(tx, id, displacing->now, &displacing->ended) &&
           account_find_by_id(tx, pii, id, displacing->account);
}

enum account_outcome displace_unproven(const struct app *app, struct arena *arena,
                                       const struct registration *registration, struct account *account)
{
    struct displacing displacing = {
        .app = app,
        .registration = registration,
        .email_hash = account_email_hash(app->pii, arena, registration->email),
        .account = account,
        .now = clock_wall_ms(),
        .ended = ENDED_TOKENS_INIT,
    };
    enum db_outcome outcome = db_write(app->accounts, displace_unit, &displacing, NULL);
    ended_tokens_announce(app, &displacing.ended, outcome == DB_OK);
    switch (outcome) {
    case DB_OK:
        log_info("an account that never proved its e-mail belongs to whom Google has verified now",
                 LOG_STR("user", str_from(account->id)));
        return ACCOUNT_OK;
    case DB_CONSTRAINT:
    case DB_ROLLED_BACK: return ACCOUNT_EMAIL_TAKEN;
    default: return ACCOUNT_UNAVAILABLE;
    }
}
