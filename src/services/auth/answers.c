#include "services/auth/answers.h"

#include "base/clock.h"
#include "base/phone.h"
#include "gateway/jwt.h"
#include "gateway/keys.h"
#include "services/app.h"
#include "services/auth/cookies.h"
#include "tables/config.h"

bool read_body(struct request *rq, const struct json_descriptor *descriptor, void *out)
{
    struct json_problem problem;
    if (json_read(rq->body.len ? rq->body : STR("{}"), descriptor, out, &rq->arena, &problem))
        return true;
    reply_error_message(rq, ERR_VALIDATION, problem.message);
    return false;
}

bool read_email(struct request *rq, struct str text, struct str *email)
{
    return email_normalize(&rq->arena, text, email) ||
           request_invalid(rq, "email", "must be an e-mail address like name@example.com.");
}

bool read_name(struct request *rq, struct str text, struct str *name)
{
    *name = str_trim(text);
    if (name->len == 0)
        return request_invalid(rq, "name", "must not be empty.");
    for (size_t i = 0; i < name->len; i++)
        if ((unsigned char)name->ptr[i] < ' ' || name->ptr[i] == 0x7f)
            return request_invalid(rq, "name", "must be on one line.");
    return true;
}

bool read_phone(struct request *rq, struct str text, struct str *phone)
{
    *phone = text;
    return text.len == 0 || phone_to_e164(&rq->arena, text, phone) ||
           request_invalid(rq, "phone", "must be like +821012345678 or 010-1234-5678.");
}

static void add_time_or_null(struct json_writer *json, const char *name, int64_t wall_ms)
{
    char text[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(wall_ms, text);
    json_member_string_or_null(json, name, wall_ms ? str_from(text) : (struct str){NULL, 0});
}

void add_user(struct json_writer *json, const struct account *account)
{
    json_begin_object(json);
    json_member_string(json, "id", str_from(account->id));
    json_member_string(json, "email", str_from(account->email));
    json_member_string(json, "name", str_from(account->name));
    json_member_string_or_null(json, "phone", str_from(account->phone[0] ? account->phone : NULL));
    json_member_string(json, "role", role_name(account->role));
    json_member_bool(json, "hasPassword", account->password_hash[0] != '\0');
    json_member_bool(json, "hasGoogle", account->has_google);
    add_time_or_null(json, "createdAt", account->created_at);
    add_time_or_null(json, "lastLoginAt", account->last_login_at);
    json_end_object(json);
}

static void private_json(struct request *rq, int status)
{
    reply_header(rq, STR("Cache-Control"), STR("no-store"));
    reply_json(rq, status);
}

void reply_user(struct request *rq, int status, const struct account *account)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_key(&json, "user");
    add_user(&json, account);
    json_end_object(&json);
    private_json(rq, status);
}

void reply_tokens(struct request *rq, const struct token_pair *pair, const struct account *account)
{
    struct str access = token_pair_sign(app_of(rq), &rq->arena, pair, account);
    struct str refresh = str_make(pair->refresh, REFRESH_TEXT);
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_string(&json, "accessToken", access);
    json_member_string(&json, "refreshToken", refresh);
    json_member_int(&json, "expiresIn", app_of(rq)->settings->access_token_lifetime);
    json_member_string(&json, "tokenType", STR("Bearer"));
    json_key(&json, "user");
    add_user(&json, account);
    json_end_object(&json);
    cookies_set(rq, access, refresh);
    private_json(rq, 200);
}

void reply_throttled(struct request *rq, int64_t wait_ms)
{
    int64_t seconds = (wait_ms + MS_PER_S - 1) / MS_PER_S;
    struct json_writer json = reply_error_begin(rq, ERR_TOO_MANY_LOGINS, error_row(ERR_TOO_MANY_LOGINS)->message);
    json_member_int(&json, "retryAfter", seconds > 0 ? seconds : 1);
    reply_header(rq, STR("Retry-After"), arena_format(&rq->arena, "%lld", (long long)(seconds > 0 ? seconds : 1)));
    reply_error_end(rq, ERR_TOO_MANY_LOGINS, &json);
}

bool can_sign(struct request *rq)
{
    if (app_of(rq)->keys->access.len)
        return true;
    reply_error_message(rq, ERR_SERVICE_UNAVAILABLE,
                        STR("Nobody can sign in here: the setting JWT_SECRET is missing."));
    return false;
}

void reply_list(struct request *rq, const char *name, struct str list)
{
    struct json_writer json = reply_json_writer(rq);
    json_begin_object(&json);
    json_member_bool(&json, "success", true);
    json_member_raw(&json, name, list);
    json_end_object(&json);
    private_json(rq, 200);
}
