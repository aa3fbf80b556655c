#include "base/clock.h"
#include "gateway/filters.h"
#include "gateway/jwt.h"

/* The same that the ticket service takes it for. */
static struct str schedule_of(const struct settings *settings, struct request *rq)
{
    struct str schedule = request_query(rq, STR("scheduleId"));
    if (schedule.ptr)
        return schedule;
    return settings->fcfs_schedule.len ? settings->fcfs_schedule : STR("demo");
}

static bool is_active(struct str schedules, struct str schedule)
{
    struct str item;
    while (str_split(&schedules, ',', &item)) {
        item = str_trim(item);
        if (str_eq(item, schedule) || str_eq(item, STR("*")))
            return true;
    }
    return false;
}

static bool is_verified_by_cdn(const struct settings *settings, const struct request *rq)
{
    struct str sent = request_header(rq, STR("X-CloudFront-Verified"));
    return settings->cloudfront_secret.len && sent.ptr && str_eq_secret(sent, settings->cloudfront_secret);
}

static struct str sent_token(const struct request *rq)
{
    struct str token = request_header(rq, STR("X-Queue-Entry-Token"));
    if (!token.ptr)
        token = request_header(rq, STR("X-Queue-Token"));
    return token.ptr ? token : request_cookie(rq, STR("queue_entry_token"));
}

/* For this schedule and this caller: neither handed on to somebody else nor taken to another show. */
static bool lets_in(const struct gateway *gateway, struct request *rq, struct str schedule)
{
    struct jwt_claims claims;
    struct str token = sent_token(rq), none = STR("");
    return token.ptr && rq->identity.user_id.len &&
           jwt_verify(&rq->arena, token, gateway->parts.keys->entry, none, none, clock_wall_ms() / MS_PER_S, &claims) ==
               JWT_OK &&
           str_eq(claims.subject, schedule) && str_eq(claims.user_id, rq->identity.user_id);
}

static bool reply_queue(struct request *rq)
{
    struct json_writer json =
        reply_error_begin(rq, ERR_QUEUE_TOKEN_REQUIRED, error_row(ERR_QUEUE_TOKEN_REQUIRED)->message);
    json_member_string(&json, "redirectTo", STR("/queue"));
    reply_error_end(rq, ERR_QUEUE_TOKEN_REQUIRED, &json);
    return false;
}

bool filter_entry_token(struct gateway *gateway, struct request *rq)
{
    const struct settings *settings = gateway->parts.settings;
    enum http_method method = rq->head.method;
    bool guarded = rq->route->entry_token && settings->waiting_room_schedules.len &&
                   (method == HTTP_POST || method == HTTP_PUT || method == HTTP_PATCH);
    if (!guarded)
        return true;
    struct str schedule = schedule_of(settings, rq);
    return !is_active(settings->waiting_room_schedules, schedule) || is_verified_by_cdn(settings, rq) ||
           lets_in(gateway, rq, schedule) || reply_queue(rq);
}
