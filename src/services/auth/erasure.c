#include "services/auth/erasure.h"

#include "base/clock.h"
#include "services/app.h"
#include "services/auth/login_history.h"
#include "services/auth/throttle.h"
#include "services/ticket/ticket.h"

struct erasure {
    struct str user_id, email_hash;
    int64_t now;
    struct ended_tokens ended;
};

bool account_erase_traces(struct tx *tx, struct str user_id, int64_t now, struct ended_tokens *ended)
{
    struct session_choice all = {.user_id = user_id};
    return sessions_end(tx, &all, now, ended) && sessions_wipe(tx, user_id) && login_history_wipe(tx, user_id);
}

static bool erase_unit(struct tx *tx, void *argument)
{
    struct erasure *erasure = argument;
    return account_erase(tx, erasure->user_id, erasure->now) && throttle_forgive(tx, erasure->email_hash) &&
           account_erase_traces(tx, erasure->user_id, erasure->now, &erasure->ended);
}

/* Other services forget first, so that somebody who is told to try again still can. */
enum account_outcome account_erase_now(const struct app *app, const struct account *account, struct arena *arena)
{
    struct erasure erasure = {
        .user_id = str_from(account->id),
        .email_hash = account_email_hash(app->pii, arena, str_from(account->email)),
        .now = clock_wall_ms(),
        .ended = ENDED_TOKENS_INIT,
    };
    if (!ticket_forget_person(app->reservations, erasure.user_id))
        return ACCOUNT_UNAVAILABLE;
    enum db_outcome outcome = db_write(app->accounts, erase_unit, &erasure, NULL);
    ended_tokens_announce(app, &erasure.ended, outcome == DB_OK);
    switch (outcome) {
    case DB_OK: return ACCOUNT_OK;
    case DB_ROLLED_BACK: return ACCOUNT_UNKNOWN;
    default: return ACCOUNT_UNAVAILABLE;
    }
}
