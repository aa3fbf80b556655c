#include "gateway/filters.h"

static bool refuse(struct request *rq, enum error error)
{
    reply_error(rq, error);
    return false;
}

/* An administrator who is signed in, or the operator's token. Where no token is configured, the routes are not there
 * for those who are nobody. */
static bool admits_operator(struct request *rq, struct str admin_token)
{
    struct str token = request_header(rq, STR("X-Admin-Token"));
    if (rq->identity.role == ROLE_ADMIN || (admin_token.len && token.ptr && str_eq_secret(token, admin_token)))
        return true;
    if (rq->identity.role != ROLE_ANONYMOUS)
        return refuse(rq, ERR_FORBIDDEN);
    if (rq->identity.refused)
        return refuse(rq, ERR_UNAUTHORIZED);
    return refuse(rq, admin_token.len ? ERR_FORBIDDEN : ERR_NOT_FOUND);
}

static bool admits_service(struct request *rq, struct str internal_token)
{
    struct str token = bearer_token(rq);
    if (!token.ptr)
        return refuse(rq, ERR_UNAUTHORIZED);
    return (internal_token.len && str_eq_secret(token, internal_token)) || refuse(rq, ERR_FORBIDDEN);
}

bool filter_access(struct gateway *gateway, struct request *rq)
{
    const struct settings *settings = gateway->parts.settings;
    enum role role = rq->identity.role;
    switch (rq->route->access) {
    case ACCESS_PUBLIC: return true;
    case ACCESS_USER: return role != ROLE_ANONYMOUS || refuse(rq, ERR_FORBIDDEN);
    case ACCESS_STAFF: return role == ROLE_STAFF || role == ROLE_ADMIN || refuse(rq, ERR_FORBIDDEN);
    case ACCESS_ADMIN: return admits_operator(rq, settings->admin_token);
    case ACCESS_INTERNAL: return admits_service(rq, settings->internal_api_token);
    }
    return refuse(rq, ERR_FORBIDDEN);
}
