#include "base/cidr.h"
#include "base/clock.h"
#include "gateway/filters.h"
#include "gateway/rate_fallback.h"

#include <stdio.h>

enum { FALLBACK_FACTOR = 2, FALLBACK_RETRY_S = 10 };

struct rate {
    const char *name;
    int64_t limit;          /* 0: none */
    bool always_by_address; /* also of those who are signed in: a token of one's own is no way around it */
};

static struct rate rate_of(const struct settings *settings, const struct request *rq)
{
    switch (rq->route->rate) {
    case RATE_GENERAL: break;
    case RATE_AUTH: return (struct rate){"auth", settings->rate_limit_auth, true};
    case RATE_QUEUE: return (struct rate){"queue", settings->rate_limit_queue, false};
    case RATE_BOOKING: return (struct rate){"booking", settings->rate_limit_booking, false};
    case RATE_FCFS: return (struct rate){"fcfs", settings->rate_limit_fcfs, false};
    case RATE_GUESTS:
        if (rq->identity.guest.len)
            break; /* nobody new */
        return (struct rate){"guests", settings->rate_limit_guests, true};
    case RATE_EXEMPT: return (struct rate){"none", 0, false};
    }
    return (struct rate){"general", settings->rate_limit_general, false};
}

static struct str key_of(const char *name, const char *kind, struct str who, char out[RATE_KEY_MAX])
{
    int length = snprintf(out, RATE_KEY_MAX, "{rate:%s:%s:%.*s}", name, kind, STR_ARG(who));
    return str_make(out, length < RATE_KEY_MAX ? (size_t)length : RATE_KEY_MAX - 1);
}

struct str rate_key_of_address(const struct request *rq, const char *name, char out[RATE_KEY_MAX])
{
    char room[CIDR_NETWORK_TEXT];
    return key_of(name, "address", cidr_network_text(rq->client_address, room), out);
}

bool rate_refuse(struct request *rq, int64_t retry_after_s)
{
    char seconds[24];
    int length = snprintf(seconds, sizeof(seconds), "%lld", (long long)retry_after_s);
    reply_header(rq, STR("Retry-After"), str_make(seconds, (size_t)length));
    struct json_writer json = reply_error_begin(rq, ERR_RATE_LIMITED, error_row(ERR_RATE_LIMITED)->message);
    json_member_int(&json, "retryAfter", retry_after_s);
    reply_error_end(rq, ERR_RATE_LIMITED, &json);
    return false;
}

static bool admits(struct gateway *gateway, struct request *rq, struct str key, int64_t limit)
{
    int64_t retry_after_ms = 0;
    enum coord_outcome outcome =
        coord_rate(gateway->parts.coord, key, (uint32_t)limit, RATE_WINDOW_MS, &retry_after_ms);
    if (outcome == COORD_OK)
        return true;
    if (outcome == COORD_LIMITED)
        return rate_refuse(rq, retry_after_ms > 0 ? (retry_after_ms + MS_PER_S - 1) / MS_PER_S : 1);
    return rate_fallback_admits(gateway->fallback, key, (uint32_t)limit * FALLBACK_FACTOR, RATE_WINDOW_MS) ||
           rate_refuse(rq, FALLBACK_RETRY_S);
}

/* By the user, when that is proven: one who could choose a name each time would never be limited. */
bool filter_rate_limit(struct gateway *gateway, struct request *rq)
{
    struct rate rate = rate_of(gateway->parts.settings, rq);
    bool known = rq->identity.role != ROLE_ANONYMOUS;
    char room[RATE_KEY_MAX];
    if (rate.limit == 0 || rq->route->access == ACCESS_INTERNAL)
        return true;
    if ((!known || rate.always_by_address) &&
        !admits(gateway, rq, rate_key_of_address(rq, rate.name, room), rate.limit))
        return false;
    return !known || admits(gateway, rq, key_of(rate.name, "user", rq->identity.user_id, room), rate.limit);
}
