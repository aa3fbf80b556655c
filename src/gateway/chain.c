#include "base/log.h"
#include "gateway/filters.h"
#include "gateway/rate_fallback.h"
#include "gateway/token_cache.h"
#include "tables/metrics.h"

#include <stdlib.h>

/*
 * The filters, in the order in which a request passes them, which is that of the label FILTER in metrics.def. Two steps
 * come before, in http/, because requests need them that never get here:
 * - version: the router takes /api/x for /api/v1/x (http/router.c);
 * - trace: an id for the log and the answer (http/trace.c).
 */
static const struct {
    const char *name;
    bool (*admits)(struct gateway *gateway, struct request *rq);
} filters[] = {
    {"cookie", filter_cookie},           /* the token; not from another site's page */
    {"identity", filter_identity},       /* who it is; nobody, on a route for somebody: 401 */
    {"rate_limit", filter_rate_limit},   /* 429 */
    {"entry_token", filter_entry_token}, /* through the waiting room first: 403 */
    {"access", filter_access},           /* the wrong role: 403 */
};

bool gateway_admits(struct gateway *gateway, struct request *rq)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        if (!filters[i].admits(gateway, rq)) {
            metric_add(METRIC_GATEWAY_REFUSALS, 1, i, 0);
            log_debug("a filter has answered", LOG_C("filter", filters[i].name), LOG_INT("status", rq->reply.status));
            return false;
        }
    return true;
}

struct gateway *gateway_create(const struct gateway_parts *parts)
{
    struct gateway *gateway = calloc(1, sizeof(*gateway));
    if (!gateway)
        return NULL;
    gateway->parts = *parts;
    gateway->local = user_header_is_local(parts->settings);
    gateway->caches = calloc(parts->loops, sizeof(struct token_cache *));
    gateway->fallback = rate_fallback_create();
    bool made = gateway->caches && gateway->fallback;
    for (size_t i = 0; made && i < parts->loops; i++)
        made = (gateway->caches[i] = token_cache_create(TOKEN_CACHE_ROOM / parts->loops)) != NULL;
    if (made)
        return gateway;
    gateway_destroy(gateway);
    return NULL;
}

void gateway_destroy(struct gateway *gateway)
{
    for (size_t i = 0; gateway->caches && i < gateway->parts.loops; i++)
        if (gateway->caches[i])
            token_cache_destroy(gateway->caches[i]);
    if (gateway->fallback)
        rate_fallback_destroy(gateway->fallback);
    free(gateway->caches);
    free(gateway);
}
