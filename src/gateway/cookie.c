#include "gateway/filters.h"
#include "http/origin.h"

/* "Bearer <token>"; ptr NULL for another scheme. */
static struct str token_in(struct str authorization)
{
    struct str scheme;
    if (!str_split(&authorization, ' ', &scheme) || !str_ieq(scheme, STR("Bearer")) || !authorization.ptr)
        return (struct str){NULL, 0};
    return str_trim(authorization);
}

struct str bearer_token(const struct request *rq)
{
    return token_in(request_header(rq, STR("Authorization")));
}

static bool changes_state(enum http_method method)
{
    return method != HTTP_GET && method != HTTP_HEAD && method != HTTP_OPTIONS;
}

/* Whether the browser has added cookies of ours by itself. */
static bool has_our_cookies(const struct request *rq)
{
    return rq->identity.by_cookie || request_cookie(rq, STR("refresh_token")).ptr ||
           request_cookie(rq, STR("guest")).ptr;
}

bool filter_cookie(struct gateway *gateway, struct request *rq)
{
    (void)gateway;
    struct str authorization = request_header(rq, STR("Authorization"));
    if (authorization.ptr) {
        rq->identity.token = token_in(authorization);
        return true;
    }
    rq->identity.token = request_cookie(rq, STR("access_token"));
    rq->identity.by_cookie = rq->identity.token.ptr != NULL;
    if (!changes_state(rq->head.method) || !has_our_cookies(rq) || request_origin(rq) == ORIGIN_OURS)
        return true;
    reply_error(rq, ERR_CSRF);
    return false;
}
