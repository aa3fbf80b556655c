#include "services/auth/signin.h"

#include "base/clock.h"
#include "base/log.h"
#include "gateway/jwt.h"
#include "services/app.h"
#include "services/auth/credentials.h"
#include "services/auth/displace.h"
#include "services/auth/google.h"
#include "services/auth/login_history.h"
#include "services/auth/throttle.h"

/* Still the account with the proof that was just checked, and with the role that the token will name; and its row is
 * locked, so that a change of either, which ends all sessions, comes before this one or after it. */
static const struct statement NOTE_LOGIN = {
    .sql = "UPDATE users SET last_login_at = $2 WHERE id = $1 AND status = 'ACTIVE' "
           "AND (password_hash = $3 OR google_hash = $4) AND role = $5",
};

struct beginning {
    const struct app *app;
    struct signin *signin;
    struct str method, email_hash, password_hash, google_hash;
};

static bool begin_unit(struct tx *tx, void *argument)
{
    const struct beginning *beginning = argument;
    const struct signin *signin = beginning->signin;
    struct str user_id = str_from(signin->account.id);
    struct login_event event = {
        .user_id = user_id,
        .email_hash = beginning->email_hash,
        .visitor = signin->visitor,
        .method = beginning->method,
        .at = signin->pair.now,
    };
    return tx_exec(tx, &NOTE_LOGIN,
                   DB_PARAMS(DB_TEXT(user_id), DB_INT(signin->pair.now), DB_TEXT(beginning->password_hash),
                             DB_TEXT(beginning->google_hash), DB_TEXT(role_name(signin->account.role)))) &&
           tx_changes(tx) == 1 && session_begin(tx, &signin->pair, user_id, beginning->method, &signin->visitor) &&
           login_history_add(tx, &event) && (!beginning->email_hash.ptr || throttle_forgive(tx, beginning->email_hash));
}

static enum signin_outcome begin(struct beginning *beginning)
{
    struct signin *signin = beginning->signin;
    signin->pair = token_pair_new(beginning->app);
    switch (db_write(beginning->app->accounts, begin_unit, beginning, NULL)) {
    case DB_OK: signin->account.last_login_at = signin->pair.now; return SIGNIN_DONE;
    case DB_ROLLED_BACK: return SIGNIN_REFUSED;
    default: return SIGNIN_UNAVAILABLE;
    }
}

enum signin_outcome signin_with_password(const struct app *app, struct arena *arena, struct str email,
                                         struct str password, struct signin *signin)
{
    struct str email_hash = account_email_hash(app->pii, arena, email);
    switch (credentials_check(app, email_hash, password, &signin->visitor, &signin->account, &signin->wait_ms)) {
    case CREDENTIALS_RIGHT: break;
    case CREDENTIALS_WRONG: return SIGNIN_REFUSED;
    case CREDENTIALS_THROTTLED: return SIGNIN_THROTTLED;
    case CREDENTIALS_BUSY: return SIGNIN_BUSY;
    case CREDENTIALS_UNAVAILABLE: return SIGNIN_UNAVAILABLE;
    }
    return begin(&(struct beginning){
        .app = app,
        .signin = signin,
        .method = STR("EMAIL"),
        .email_hash = email_hash,
        .password_hash = str_from(signin->account.password_hash),
    });
}

/* With Google. */

struct lookup {
    const struct app *app;
    struct str google_hash;
    struct account *account;
    bool found;
};

static bool lookup_unit(struct tx *tx, void *argument)
{
    struct lookup *lookup = argument;
    lookup->found = account_find_by_google(tx, lookup->app->pii, lookup->google_hash, lookup->account);
    return !tx_failed(tx);
}

static enum account_outcome find_by_google(const struct app *app, struct str google_hash, struct account *account)
{
    struct lookup lookup = {.app = app, .google_hash = google_hash, .account = account};
    if (db_read(app->accounts, lookup_unit, &lookup) != DB_OK)
        return ACCOUNT_UNAVAILABLE;
    return lookup.found ? ACCOUNT_OK : ACCOUNT_UNKNOWN;
}

/* An account is found by Google's number for the person, never by the e-mail: whoever registered somebody else's
 * address here with a password of their own would share the account otherwise. They lose it instead (displace.h). */
static enum account_outcome find_or_register(const struct app *app, struct arena *arena,
                                             const struct google_person *person, struct str google_hash,
                                             struct account *account)
{
    enum account_outcome outcome = find_by_google(app, google_hash, account);
    if (outcome != ACCOUNT_UNKNOWN)
        return outcome;
    struct registration registration = {.email = person->email,
                                        .name = person->name,
                                        .google_hash = google_hash,
                                        .role = ROLE_USER,
                                        .email_verified = true};
    outcome = account_create(app->accounts, app->pii, arena, &registration, account);
    if (outcome == ACCOUNT_EMAIL_TAKEN)
        outcome = displace_unproven(app, arena, &registration, account);
    if (outcome != ACCOUNT_EMAIL_TAKEN && outcome != ACCOUNT_GOOGLE_TAKEN)
        return outcome;
    enum account_outcome again = find_by_google(app, google_hash, account); /* perhaps by another request of theirs */
    return again == ACCOUNT_UNKNOWN ? ACCOUNT_EMAIL_TAKEN : again;
}

enum signin_outcome signin_with_google(const struct app *app, struct arena *arena, const struct google_person *person,
                                       struct signin *signin)
{
    struct str google_hash = account_google_hash(app->pii, arena, person->subject);
    switch (find_or_register(app, arena, person, google_hash, &signin->account)) {
    case ACCOUNT_OK: break;
    case ACCOUNT_EMAIL_TAKEN: return SIGNIN_EMAIL_TAKEN;
    default: return SIGNIN_UNAVAILABLE;
    }
    return begin(
        &(struct beginning){.app = app, .signin = signin, .method = STR("GOOGLE"), .google_hash = google_hash});
}

static bool refused_unit(struct tx *tx, void *argument)
{
    return login_history_add(tx, argument);
}

void signin_note_refused_google(const struct app *app, const struct visitor *visitor)
{
    struct login_event event = {.visitor = *visitor,
                                .method = STR("GOOGLE"),
                                .reason = "invalid_credentials",
                                .at = clock_wall_ms()};
    if (db_write(app->accounts, refused_unit, &event, NULL) != DB_OK)
        log_warn("a refused sign-in is missing in the history");
}
