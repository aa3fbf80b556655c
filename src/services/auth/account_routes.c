#include "services/auth/account_routes.h"

#include "base/clock.h"
#include "services/app.h"
#include "services/auth/answers.h"
#include "services/auth/cookies.h"
#include "services/auth/credentials.h"
#include "services/auth/erasure.h"
#include "services/auth/login_history.h"
#include "services/auth/throttle.h"

enum { LIST_MAX_BYTES = 256 * 1024, PHONE_TEXT_MAX = 32, RECENT_SIGNIN_MS = 5 * 60 * 1000 };

/* The account has gone while its token was still good. */
static void reply_account(struct request *rq, enum account_outcome outcome, const struct account *account)
{
    switch (outcome) {
    case ACCOUNT_OK: reply_user(rq, 200, account); break;
    case ACCOUNT_UNKNOWN: reply_error(rq, ERR_UNAUTHORIZED); break;
    default: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

void get_me(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct account account;
    reply_account(rq, account_read(app->accounts, app->pii, rq->identity.user_id, &account), &account);
}

struct change_body {
    struct str name, phone;
};
static const struct json_field change_fields[] = {
    JSON_FIELD(struct change_body, name, "name", .min = 1, .max = ACCOUNT_NAME_MAX),
    JSON_FIELD(struct change_body, phone, "phone", .max = PHONE_TEXT_MAX),
};
static const struct json_descriptor change_descriptor = JSON_DESCRIPTOR(struct change_body, change_fields);

void patch_me(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct change_body body = {0};
    struct account_change change = {0};
    struct account account;
    if (!read_body(rq, &change_descriptor, &body) || (body.name.ptr && !read_name(rq, body.name, &change.name)) ||
        (body.phone.ptr && !read_phone(rq, body.phone, &change.phone)))
        return;
    reply_account(rq, account_change(app->accounts, app->pii, &rq->arena, rq->identity.user_id, &change, &account),
                  &account);
}

/* False: it has answered. */
static bool read_me(struct request *rq, struct account *account)
{
    const struct app *app = app_of(rq);
    enum account_outcome outcome = account_read(app->accounts, app->pii, rq->identity.user_id, account);
    if (outcome != ACCOUNT_OK)
        reply_account(rq, outcome, account);
    return outcome == ACCOUNT_OK;
}

/* Whoever changes what matters proves again who they are. False: it has answered. */
static bool is_my_password(struct request *rq, struct str password, struct account *account, struct str *email_hash)
{
    const struct app *app = app_of(rq);
    struct visitor visitor = visitor_of(rq);
    int64_t wait_ms;
    if (account->password_hash[0] == '\0') {
        reply_error(rq, ERR_NO_PASSWORD);
        return false;
    }
    *email_hash = account_email_hash(app->pii, &rq->arena, str_from(account->email));
    switch (credentials_check(app, *email_hash, password, &visitor, account, &wait_ms)) {
    case CREDENTIALS_RIGHT: return true;
    case CREDENTIALS_WRONG: reply_error(rq, ERR_INVALID_CREDENTIALS); break;
    case CREDENTIALS_THROTTLED: reply_throttled(rq, wait_ms); break;
    case CREDENTIALS_BUSY: reply_error(rq, ERR_OVERLOADED); break;
    case CREDENTIALS_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
    return false;
}

/* Who has no password has signed in a moment ago: a token that was lost longer ago is no proof. False: it has
 * answered. */
static bool is_recent(struct request *rq)
{
    int64_t begun_at;
    if (session_begun_at(app_of(rq)->accounts, rq->identity.user_id, rq->identity.family, &begun_at) != DB_OK)
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
    else if (clock_wall_ms() - begun_at > RECENT_SIGNIN_MS)
        reply_error(rq, ERR_SIGNIN_TOO_OLD);
    else
        return true;
    return false;
}

struct erase_body {
    struct str password;
};
static const struct json_field erase_fields[] = {
    JSON_FIELD(struct erase_body, password, "password", .min = 1, .max = PASSWORD_MAX),
};
static const struct json_descriptor erase_descriptor = JSON_DESCRIPTOR(struct erase_body, erase_fields);

/* False: it has answered. */
static bool may_erase(struct request *rq, struct str password, struct account *account)
{
    struct str email_hash;
    if (password.ptr)
        return is_my_password(rq, password, account, &email_hash);
    if (account->password_hash[0])
        return request_invalid(rq, "password", "must be given, to show that it is you.");
    return is_recent(rq);
}

void delete_me(struct request *rq)
{
    struct erase_body body = {0};
    struct account account;
    if (!read_body(rq, &erase_descriptor, &body) || !read_me(rq, &account) || !may_erase(rq, body.password, &account))
        return;
    switch (account_erase_now(app_of(rq), &account, &rq->arena)) {
    case ACCOUNT_OK:
        cookies_clear(rq);
        reply_empty(rq, 204);
        break;
    case ACCOUNT_UNKNOWN: reply_error(rq, ERR_UNAUTHORIZED); break;
    default: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

/* The password. */

static const struct statement SET_PASSWORD = {
    .sql = "UPDATE users SET password_hash = $3, updated_at = $4 WHERE id = $1 AND password_hash = $2 "
           "AND status = 'ACTIVE'",
};

struct password_body {
    struct str current, wanted;
};
static const struct json_field password_fields[] = {
    JSON_FIELD(struct password_body, current, "currentPassword", .required = true, .min = 1, .max = PASSWORD_MAX),
    JSON_FIELD(struct password_body, wanted, "newPassword", .required = true, .min = PASSWORD_MIN, .max = PASSWORD_MAX),
};
static const struct json_descriptor password_descriptor = JSON_DESCRIPTOR(struct password_body, password_fields);

struct password_change {
    struct session_choice others;
    struct str email_hash, old_hash, new_hash;
    int64_t now;
    struct ended_tokens ended;
};

/* Whoever else is signed in with the old password is signed out. */
static bool password_unit(struct tx *tx, void *argument)
{
    struct password_change *change = argument;
    return tx_exec(tx, &SET_PASSWORD,
                   DB_PARAMS(DB_TEXT(change->others.user_id), DB_TEXT(change->old_hash), DB_TEXT(change->new_hash),
                             DB_INT(change->now))) &&
           tx_changes(tx) == 1 && throttle_forgive(tx, change->email_hash) &&
           sessions_end(tx, &change->others, change->now, &change->ended);
}

static void set_password(struct request *rq, struct str email_hash, const struct account *account, struct str wanted)
{
    const struct app *app = app_of(rq);
    char hash[PASSWORD_HASH_SIZE];
    if (password_hash(app->offload, wanted, hash) != PASSWORD_RIGHT) {
        reply_error(rq, ERR_OVERLOADED);
        return;
    }
    struct password_change change = {
        .others = {.user_id = rq->identity.user_id, .except = rq->identity.family},
        .email_hash = email_hash,
        .old_hash = str_from(account->password_hash),
        .new_hash = str_from(hash),
        .now = clock_wall_ms(),
        .ended = ENDED_TOKENS_INIT,
    };
    enum db_outcome outcome = db_write(app->accounts, password_unit, &change, NULL);
    ended_tokens_announce(app, &change.ended, outcome == DB_OK);
    switch (outcome) {
    case DB_OK: reply_empty(rq, 204); break;
    case DB_ROLLED_BACK: reply_error(rq, ERR_INVALID_CREDENTIALS); break; /* another change was faster */
    default: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

void put_password(struct request *rq)
{
    struct password_body body = {0};
    struct account account;
    struct str email_hash;
    if (read_body(rq, &password_descriptor, &body) && read_me(rq, &account) &&
        is_my_password(rq, body.current, &account, &email_hash))
        set_password(rq, email_hash, &account, body.wanted);
}

/* Sessions, and who has signed in. */

static void reply_or_fail(struct request *rq, enum db_outcome outcome, const char *name, struct buf *list)
{
    if (outcome == DB_OK)
        reply_list(rq, name, buf_str(list));
    else
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
    buf_free(list);
}

void get_sessions(struct request *rq)
{
    struct buf list = BUF_INIT(LIST_MAX_BYTES);
    enum db_outcome outcome = sessions_list(app_of(rq)->accounts, rq->identity.user_id, rq->identity.family, &list);
    reply_or_fail(rq, outcome, "sessions", &list);
}

void get_logins(struct request *rq)
{
    struct buf list = BUF_INIT(LIST_MAX_BYTES);
    reply_or_fail(rq, login_history_list(app_of(rq)->accounts, rq->identity.user_id, &list), "logins", &list);
}

void delete_sessions(struct request *rq)
{
    struct session_choice everywhere = {.user_id = rq->identity.user_id};
    if (sessions_end_now(app_of(rq), &everywhere, NULL) != DB_OK) {
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
        return;
    }
    cookies_clear(rq);
    reply_empty(rq, 204);
}

void delete_session(struct request *rq)
{
    struct session_choice one = {.user_id = rq->identity.user_id, .only = rq->params[0]};
    size_t ended;
    if (sessions_end_now(app_of(rq), &one, &ended) != DB_OK) {
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
        return;
    }
    if (ended == 0) {
        reply_error_message(rq, ERR_NOT_FOUND, STR("You have no such session."));
        return;
    }
    if (str_eq(one.only, rq->identity.family))
        cookies_clear(rq);
    reply_empty(rq, 204);
}
