#include "services/auth/auth_routes.h"

#include "base/clock.h"
#include "gateway/jwt.h"
#include "gateway/keys.h"
#include "gateway/revoked.h"
#include "services/app.h"
#include "services/auth/answers.h"
#include "services/auth/auth_internal.h"
#include "services/auth/cookies.h"
#include "services/auth/google.h"
#include "services/auth/signin.h"
#include "tables/metrics.h"

enum { PHONE_TEXT_MAX = 32, TOKEN_TEXT_MAX = 4096 };

/* Registering. */

struct register_body {
    struct str email, password, name, phone, identity;
};
static const struct json_field register_fields[] = {
    JSON_FIELD(struct register_body, email, "email", .required = true, .min = 3, .max = EMAIL_MAX),
    JSON_FIELD(struct register_body, password, "password", .required = true, .min = PASSWORD_MIN, .max = PASSWORD_MAX),
    JSON_FIELD(struct register_body, name, "name", .required = true, .min = 1, .max = ACCOUNT_NAME_MAX),
    JSON_FIELD(struct register_body, phone, "phone", .max = PHONE_TEXT_MAX),
    JSON_FIELD(struct register_body, identity, "identityVerificationId", .min = 1, .max = IDENTITY_MAX),
};
static const struct json_descriptor register_descriptor = JSON_DESCRIPTOR(struct register_body, register_fields);

static bool read_registration(struct request *rq, struct registration *registration, struct str *password)
{
    struct register_body body = {0};
    if (!read_body(rq, &register_descriptor, &body) || !read_email(rq, body.email, &registration->email) ||
        !read_name(rq, body.name, &registration->name) || !read_phone(rq, body.phone, &registration->phone))
        return false;
    if (registration->phone.len == 0)
        registration->phone = (struct str){NULL, 0};
    registration->identity = body.identity;
    registration->role = ROLE_USER;
    *password = body.password;
    return true;
}

void post_register(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct registration registration = {0};
    struct account account;
    struct str password;
    char hash[PASSWORD_HASH_SIZE];
    if (!read_registration(rq, &registration, &password))
        return;
    if (password_hash(app->offload, password, hash) != PASSWORD_RIGHT) {
        reply_error(rq, ERR_OVERLOADED);
        return;
    }
    registration.password_hash = str_from(hash);
    switch (account_create(app->accounts, app->pii, &rq->arena, &registration, &account)) {
    case ACCOUNT_OK: reply_user(rq, 201, &account); break;
    case ACCOUNT_EMAIL_TAKEN: reply_error(rq, ERR_EMAIL_TAKEN); break;
    case ACCOUNT_CI_TAKEN: reply_error(rq, ERR_CI_TAKEN); break;
    case ACCOUNT_IDENTITY_UNKNOWN: reply_error(rq, ERR_IDENTITY_UNVERIFIED); break;
    case ACCOUNT_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    case ACCOUNT_UNKNOWN:
    case ACCOUNT_GOOGLE_TAKEN: reply_error(rq, ERR_INTERNAL); break; /* not of this kind of registration */
    }
}

/* Signing in. */

static void reply_signin(struct request *rq, enum signin_outcome outcome, const struct signin *signin)
{
    metric_add(METRIC_SIGNINS, 1, (size_t)outcome);
    switch (outcome) {
    case SIGNIN_DONE: reply_tokens(rq, &signin->pair, &signin->account); break;
    case SIGNIN_REFUSED: reply_error(rq, ERR_INVALID_CREDENTIALS); break;
    case SIGNIN_THROTTLED: reply_throttled(rq, signin->wait_ms); break;
    case SIGNIN_EMAIL_TAKEN: reply_error(rq, ERR_EMAIL_TAKEN); break;
    case SIGNIN_BUSY: reply_error(rq, ERR_OVERLOADED); break;
    case SIGNIN_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

struct login_body {
    struct str email, password;
};
static const struct json_field login_fields[] = {
    JSON_FIELD(struct login_body, email, "email", .required = true, .min = 3, .max = EMAIL_MAX),
    JSON_FIELD(struct login_body, password, "password", .required = true, .min = 1, .max = PASSWORD_MAX),
};
static const struct json_descriptor login_descriptor = JSON_DESCRIPTOR(struct login_body, login_fields);

void post_login(struct request *rq)
{
    struct login_body body = {0};
    struct signin signin = {.visitor = visitor_of(rq)};
    struct str email;
    if (!can_sign(rq) || !read_body(rq, &login_descriptor, &body) || !read_email(rq, body.email, &email))
        return;
    reply_signin(rq, signin_with_password(app_of(rq), &rq->arena, email, body.password, &signin), &signin);
}

struct token_body {
    struct str text;
};
static const struct json_field google_fields[] = {
    JSON_FIELD(struct token_body, text, "credential", .required = true, .min = 1, .max = TOKEN_TEXT_MAX),
};
static const struct json_descriptor google_descriptor = JSON_DESCRIPTOR(struct token_body, google_fields);

static void reply_google_off(struct request *rq)
{
    reply_error_message(rq, ERR_NOT_FOUND, STR("Signing in with Google is not set up here."));
}

void post_google_nonce(struct request *rq)
{
    char secret[GOOGLE_SECRET_TEXT], nonce[GOOGLE_NONCE_TEXT];
    if (!google_is_on(auth_google(app_of(rq)->auth))) {
        reply_google_off(rq);
        return;
    }
    google_ask(secret, nonce);
    cookies_set_google(rq, str_make(secret, sizeof(secret)));
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_string(&json, "nonce", str_make(nonce, sizeof(nonce)));
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

void post_google(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct token_body body = {0};
    struct signin signin = {.visitor = visitor_of(rq)};
    struct google_person person;
    if (!can_sign(rq) || !read_body(rq, &google_descriptor, &body))
        return;
    switch (google_verify(auth_google(app->auth), &rq->arena, body.text, cookies_google(rq), &person)) {
    case GOOGLE_OK:
        cookies_set_google(rq, STR("")); /* a question is answered once */
        reply_signin(rq, signin_with_google(app, &rq->arena, &person, &signin), &signin);
        break;
    case GOOGLE_INVALID:
        metric_add(METRIC_SIGNINS, 1, SIGNIN_REFUSED);
        signin_note_refused_google(app, &signin.visitor);
        reply_error_message(rq, ERR_INVALID_CREDENTIALS, STR("Google did not confirm who you are. Please try again."));
        break;
    case GOOGLE_OFF: reply_google_off(rq); break;
    case GOOGLE_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

/* Going on, and signing out. */

static const struct json_field refresh_fields[] = {
    JSON_FIELD(struct token_body, text, "refreshToken", .min = 1, .max = TOKEN_TEXT_MAX),
};
static const struct json_descriptor refresh_descriptor = JSON_DESCRIPTOR(struct token_body, refresh_fields);

/* From the body, else from the cookie; empty: from neither. False: it has answered 400. */
static bool read_refresh_token(struct request *rq, struct str *token)
{
    struct token_body body = {0};
    if (!read_body(rq, &refresh_descriptor, &body))
        return false;
    *token = body.text.len ? body.text : cookies_refresh_token(rq);
    return true;
}

void post_refresh(struct request *rq)
{
    struct visitor visitor = visitor_of(rq);
    struct token_pair pair;
    struct account account;
    struct str token;
    if (!can_sign(rq) || !read_refresh_token(rq, &token))
        return;
    switch (token.len ? session_refresh(app_of(rq), token, &visitor, &pair, &account) : REFRESH_UNKNOWN) {
    case REFRESH_DONE: reply_tokens(rq, &pair, &account); break;
    case REFRESH_UNKNOWN:
        cookies_clear(rq);
        reply_error(rq, ERR_UNAUTHORIZED);
        break;
    case REFRESH_REUSED:
        metric_add(METRIC_TOKENS_REUSED, 1, 0);
        cookies_clear(rq);
        reply_error(rq, ERR_TOKEN_REUSED);
        break;
    case REFRESH_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}

/* By whatever names a session: the access token, also when it has expired and only the refresh token is left. */
void post_logout(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct session_choice choice = {.user_id = rq->identity.user_id, .only = rq->identity.family};
    struct str token;
    if (!read_refresh_token(rq, &token))
        return;
    bool signed_in = rq->identity.role != ROLE_ANONYMOUS && choice.only.len;
    if ((signed_in && sessions_end_now(app, &choice, NULL) != DB_OK) ||
        (token.len && session_end_by_token(app, token) != DB_OK)) {
        reply_error(rq, ERR_SERVICE_UNAVAILABLE);
        return;
    }
    cookies_clear(rq);
    reply_empty(rq, 204);
}

/* Is this token good? For programs that were handed one. */

static const struct json_field verify_fields[] = {
    JSON_FIELD(struct token_body, text, "token", .min = 1, .max = TOKEN_TEXT_MAX),
};
static const struct json_descriptor verify_descriptor = JSON_DESCRIPTOR(struct token_body, verify_fields);

/* The user whom the token names; ptr NULL: it is not good. */
static struct str user_of_token(struct request *rq, struct str token)
{
    const struct app *app = app_of(rq);
    const struct token_keys *keys = app->keys;
    struct jwt_claims claims;
    bool good = jwt_verify(&rq->arena, token, keys->access, keys->issuer, keys->audience, clock_wall_ms() / MS_PER_S,
                           &claims) == JWT_OK &&
                !revoked_has(app->revoked, claims.token_id);
    return good ? claims.subject : (struct str){NULL, 0};
}

static void reply_validity(struct request *rq, const struct account *account)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_bool(&json, "valid", account != NULL);
    json_key(&json, "user");
    if (account)
        add_user(&json, account);
    else
        json_null(&json);
    json_end_object(&json);
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, 200);
}

void post_verify_token(struct request *rq)
{
    const struct app *app = app_of(rq);
    struct token_body body = {0};
    struct account account;
    if (!read_body(rq, &verify_descriptor, &body))
        return;
    struct str user = body.text.len ? user_of_token(rq, body.text) : rq->identity.user_id;
    if (user.len == 0) {
        reply_validity(rq, NULL);
        return;
    }
    switch (account_read(app->accounts, app->pii, user, &account)) {
    case ACCOUNT_OK: reply_validity(rq, &account); break;
    case ACCOUNT_UNKNOWN: reply_validity(rq, NULL); break;
    default: reply_error(rq, ERR_SERVICE_UNAVAILABLE); break;
    }
}
