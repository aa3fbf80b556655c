#include "gateway/filters.h"
#include "http/origin.h"

struct str bearer_token(const struct request *rq)
{
    struct str value = request_header(rq, STR("Authorization")), scheme;
    if (!str_split(&value, ' ', &scheme) || !str_ieq(scheme, STR("Bearer")) || !value.ptr)
        return (struct str){NULL, 0};
    return str_trim(value);
}

static bool changes_state(enum http_method method)
{
    return method != HTTP_GET && method != HTTP_HEAD && method != HTTP_OPTIONS;
}

bool filter_cookie(struct gateway *gateway, struct request *rq)
{
    (void)gateway;
    if (request_header(rq, STR("Authorization")).ptr) {
        rq->identity.token = bearer_token(rq);
        return true;
    }
    if (!request_header(rq, STR("Cookie")).ptr)
        return true;
    rq->identity.token = request_cookie(rq, STR("access_token"));
    rq->identity.by_cookie = rq->identity.token.ptr != NULL;
    bool has_ours = rq->identity.by_cookie || request_cookie(rq, STR("refresh_token")).ptr;
    if (!has_ours || !changes_state(rq->head.method) || request_origin(rq) == ORIGIN_OURS)
        return true;
    reply_error(rq, ERR_CSRF);
    return false;
}
