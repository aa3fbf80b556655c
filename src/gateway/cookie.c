#include "gateway/filters.h"

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

/* Browsers say from where a page has sent a request, and pages cannot change that: in Sec-Fetch-Site, or, older ones,
 * in Origin. Its host is compared only, since a proxy in front may end TLS. */
static bool is_same_origin(const struct request *rq)
{
    struct str site = request_header(rq, STR("Sec-Fetch-Site"));
    struct str origin = request_header(rq, STR("Origin"));
    struct str host = request_header(rq, STR("Host"));
    if (site.ptr)
        return str_eq(site, STR("same-origin"));
    origin = str_starts(origin, STR("https://"))  ? str_from_offset(origin, 8)
             : str_starts(origin, STR("http://")) ? str_from_offset(origin, 7)
                                                  : STR("");
    return origin.len && str_ieq(origin, host);
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
    if (!has_ours || !changes_state(rq->head.method) || is_same_origin(rq))
        return true;
    reply_error(rq, ERR_CSRF);
    return false;
}
