#include "base/clock.h"
#include "gateway/filters.h"
#include "gateway/jwt.h"
#include "gateway/token_cache.h"

/* What other gateways tell the servers behind them. Here nobody may say it of himself. */
static bool is_user_header(struct str name)
{
    return str_ieq(name, STR("X-User-Id")) || str_ieq(name, STR("X-User-Email")) || str_ieq(name, STR("X-User-Role"));
}

static void strip_user_headers(struct http_head *head)
{
    size_t kept = 0;
    for (size_t i = 0; i < head->header_count; i++)
        if (!is_user_header(head->headers[i].name))
            head->headers[kept++] = head->headers[i];
    head->header_count = kept;
}

/* An access token has an id, to be revoked by, and a role; a token without is of another kind. */
static bool is_access_token(const struct jwt_claims *claims)
{
    return claims->token_id.len && claims->role != ROLE_ANONYMOUS && !claims->user_id.len &&
           !guest_is_id(claims->subject);
}

/* Fills in who a good token names; false for any other. One that this loop has seen lately need not be verified again.
 */
static bool read_token(struct gateway *gateway, struct request *rq, struct identity *caller)
{
    const struct token_keys *keys = gateway->parts.keys;
    struct token_cache *cache = gateway->caches[request_loop_index(rq)];
    int64_t now = clock_wall_ms() / MS_PER_S;
    struct jwt_claims claims;
    if (token_cache_find(cache, caller->token, now, &rq->arena, caller))
        return true;
    if (jwt_verify(&rq->arena, caller->token, keys->access, keys->issuer, keys->audience, now, &claims) != JWT_OK ||
        !is_access_token(&claims))
        return false;
    caller->role = claims.role;
    caller->user_id = claims.subject;
    caller->token_id = claims.token_id;
    caller->family = claims.family;
    caller->expires_at = claims.expires_at;
    token_cache_keep(cache, caller->token, now, caller);
    return true;
}

static void take_token(struct gateway *gateway, struct request *rq)
{
    struct identity caller = rq->identity;
    if (read_token(gateway, rq, &caller) && !revoked_has(gateway->parts.revoked, caller.token_id))
        rq->identity = caller;
    else
        rq->identity.refused = true;
}

/* Somebody who has signed in and whose token has expired must not become a guest for that request: the page then
 * fetches a new token. To be given the same guest again, one's cookie counts in any case. */
static struct str read_guest(const struct gateway *gateway, struct request *rq)
{
    const struct gateway_parts *parts = &gateway->parts;
    const struct identity *caller = &rq->identity;
    bool counts = rq->route->rate == RATE_GUESTS ||
                  (rq->route->rate == RATE_FCFS && caller->role == ROLE_ANONYMOUS && !caller->by_header &&
                   !caller->token.ptr && !request_cookie(rq, STR("refresh_token")).ptr);
    return counts && parts->settings->fcfs_guests ? guest_of(rq, parts->keys->guest) : (struct str){NULL, 0};
}

bool filter_identity(struct gateway *gateway, struct request *rq)
{
    enum route_access access = rq->route->access;
    struct str by_header = user_header_read(gateway, rq);
    strip_user_headers(&rq->head);
    if (access == ACCESS_INTERNAL)
        return true; /* not people, and another kind of token */
    if (rq->identity.token.ptr)
        take_token(gateway, rq);
    rq->identity.by_header = rq->identity.role == ROLE_ANONYMOUS && by_header.len;
    rq->identity.guest = read_guest(gateway, rq);
    if (rq->identity.role != ROLE_ANONYMOUS)
        return true;
    rq->identity.user_id = rq->identity.by_header ? by_header : rq->identity.guest;
    if (access != ACCESS_USER && access != ACCESS_STAFF)
        return true;
    reply_error(rq, ERR_UNAUTHORIZED);
    return false;
}
