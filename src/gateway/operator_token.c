/* The operator's token. Wrong ones are counted by address, within RATE_LIMIT_AUTH a minute; then that address is told
 * nothing more until the minute is over, not even that it has found the right one. */
#include "base/clock.h"
#include "base/log.h"
#include "gateway/filters.h"
#include "gateway/rate_fallback.h"

enum { LOG_EVERY_S = 10 };

/* A line at once, then one in ten seconds with how many there were: a flood must not fill the log. */
static void log_refusal(struct gateway *gateway)
{
    long long now = clock_mono_ns(), logged = atomic_load(&gateway->operator_refusals.logged_ns);
    atomic_fetch_add(&gateway->operator_refusals.unlogged, 1);
    if ((logged && now - logged < LOG_EVERY_S * NS_PER_S) ||
        !atomic_compare_exchange_strong(&gateway->operator_refusals.logged_ns, &logged, now))
        return;
    log_warn("a wrong operator's token (X-Admin-Token) was refused",
             LOG_INT("refusals", atomic_exchange(&gateway->operator_refusals.unlogged, 0)));
}

/* Counts a wrong token; of a right one only asks how many wrong ones there were. */
static bool is_too_many(struct gateway *gateway, const struct request *rq, bool right)
{
    int64_t limit = gateway->parts.settings->rate_limit_auth, sum = 0;
    char room[RATE_KEY_MAX];
    if (limit == 0)
        return false;
    struct str key = rate_key_of_address(rq, "operator", room);
    if (coord_count(gateway->parts.coord, key, right ? 0 : 1, RATE_WINDOW_MS, &sum) == COORD_OK)
        return sum > limit;
    return right ? !rate_fallback_would_admit(gateway->fallback, key, (uint32_t)limit, RATE_WINDOW_MS)
                 : !rate_fallback_admits(gateway->fallback, key, (uint32_t)limit, RATE_WINDOW_MS);
}

enum operator_token operator_token_check(struct gateway *gateway, struct request *rq)
{
    struct str token = gateway->parts.settings->admin_token, sent = request_header(rq, STR("X-Admin-Token"));
    if (token.len == 0 || sent.len == 0)
        return OPERATOR_TOKEN_NONE;
    bool right = str_eq_secret(sent, token);
    if (!right)
        log_refusal(gateway);
    if (is_too_many(gateway, rq, right))
        return OPERATOR_TOKEN_TOO_MANY;
    return right ? OPERATOR_TOKEN_RIGHT : OPERATOR_TOKEN_WRONG;
}
