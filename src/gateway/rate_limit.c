#include "base/cidr.h"
#include "base/clock.h"
#include "gateway/filters.h"
#include "gateway/rate_fallback.h"

#include <stdio.h>

enum { WINDOW_MS = 60 * 1000, KEY_MAX = 192, FALLBACK_FACTOR = 2, FALLBACK_RETRY_S = 10 };

struct rate {
    const char *name;
    int64_t limit; /* 0: none */
};

static struct rate rate_of(const struct settings *settings, enum route_rate rate)
{
    switch (rate) {
    case RATE_GENERAL: return (struct rate){"general", settings->rate_limit_general};
    case RATE_AUTH: return (struct rate){"auth", settings->rate_limit_auth};
    case RATE_QUEUE: return (struct rate){"queue", settings->rate_limit_queue};
    case RATE_BOOKING: return (struct rate){"booking", settings->rate_limit_booking};
    case RATE_FCFS: return (struct rate){"fcfs", settings->rate_limit_fcfs};
    case RATE_EXEMPT: break;
    }
    return (struct rate){"none", 0};
}

/* By the user, when that is proven: one who could choose a name each time would never be limited. */
static struct str key_of(const struct request *rq, const struct rate *rate, char out[KEY_MAX])
{
    char room[CIDR_NETWORK_TEXT];
    struct str network = cidr_network_text(rq->client_address, room);
    int length = rq->identity.role != ROLE_ANONYMOUS
                     ? snprintf(out, KEY_MAX, "{rate:%s:user:%.*s}", rate->name, STR_ARG(rq->identity.user_id))
                     : snprintf(out, KEY_MAX, "{rate:%s:address:%.*s}", rate->name, STR_ARG(network));
    return str_make(out, length < KEY_MAX ? (size_t)length : KEY_MAX - 1);
}

static bool reply_limited(struct request *rq, int64_t retry_after_s)
{
    char seconds[24];
    int length = snprintf(seconds, sizeof(seconds), "%lld", (long long)retry_after_s);
    reply_header(rq, STR("Retry-After"), str_make(seconds, (size_t)length));
    struct json_writer json = reply_error_begin(rq, ERR_RATE_LIMITED, error_row(ERR_RATE_LIMITED)->message);
    json_member_int(&json, "retryAfter", retry_after_s);
    reply_error_end(rq, ERR_RATE_LIMITED, &json);
    return false;
}

bool filter_rate_limit(struct gateway *gateway, struct request *rq)
{
    struct rate rate = rate_of(gateway->parts.settings, rq->route->rate);
    char room[KEY_MAX];
    int64_t retry_after_ms = 0;
    if (rate.limit == 0 || rq->route->access == ACCESS_INTERNAL)
        return true;
    struct str key = key_of(rq, &rate, room);
    enum coord_outcome outcome =
        coord_rate(gateway->parts.coord, key, (uint32_t)rate.limit, WINDOW_MS, &retry_after_ms);
    if (outcome == COORD_OK)
        return true;
    if (outcome == COORD_LIMITED)
        return reply_limited(rq, retry_after_ms > 0 ? (retry_after_ms + MS_PER_S - 1) / MS_PER_S : 1);
    return rate_fallback_admits(gateway->fallback, key, (uint32_t)rate.limit * FALLBACK_FACTOR, WINDOW_MS) ||
           reply_limited(rq, FALLBACK_RETRY_S);
}
