#include "gateway/access.h"

#include "http/router.h"

/* Without a token configured, the operator's routes do not exist. */
static bool is_operator(struct request *rq, struct str admin_token)
{
    struct str token = request_header(rq, STR("X-Admin-Token"));
    if (admin_token.len == 0) {
        reply_error(rq, ERR_NOT_FOUND);
        return false;
    }
    if (!token.ptr || !str_eq_secret(token, admin_token)) {
        reply_error(rq, ERR_FORBIDDEN);
        return false;
    }
    return true;
}

bool access_allowed(struct request *rq, struct str admin_token)
{
    switch (rq->route->access) {
    case ACCESS_PUBLIC: return true;
    case ACCESS_ADMIN: return is_operator(rq, admin_token);
    case ACCESS_USER:
    case ACCESS_STAFF:
    case ACCESS_INTERNAL: break;
    }
    reply_error(rq, ERR_FORBIDDEN);
    return false;
}
