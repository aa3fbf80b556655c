#include "base/clock.h"
#include "gateway/filters.h"

static bool refuse(struct request *rq, enum error error)
{
    reply_error(rq, error);
    return false;
}

/* An administrator who is signed in, or the operator's token. Where no token is configured, the routes are not there
 * for those who are nobody. */
static bool admits_operator(struct gateway *gateway, struct request *rq)
{
    if (rq->identity.role == ROLE_ADMIN)
        return true;
    switch (operator_token_check(gateway, rq)) {
    case OPERATOR_TOKEN_RIGHT: return true;
    case OPERATOR_TOKEN_TOO_MANY: return rate_refuse(rq, RATE_WINDOW_MS / MS_PER_S);
    case OPERATOR_TOKEN_NONE:
    case OPERATOR_TOKEN_WRONG: break;
    }
    if (rq->identity.role != ROLE_ANONYMOUS)
        return refuse(rq, ERR_FORBIDDEN);
    if (rq->identity.refused)
        return refuse(rq, ERR_UNAUTHORIZED);
    return refuse(rq, gateway->parts.settings->admin_token.len ? ERR_FORBIDDEN : ERR_NOT_FOUND);
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
    case ACCESS_ADMIN: return admits_operator(gateway, rq);
    case ACCESS_INTERNAL: return admits_service(rq, settings->internal_api_token);
    }
    return refuse(rq, ERR_FORBIDDEN);
}
