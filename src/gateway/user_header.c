/*
 * Whether the plain header that names a user (FCFS_USER_HEADER) is believed. Whoever can reach the server can write it,
 * so by itself it proves nothing. By FCFS_TRUST_USER_HEADER=auto it counts from the gateway that proves itself, and
 * from this machine: on a server that listens on the loopback only, to which no proxy brings strangers. A proxy is
 * known by what it adds to requests or how old its HTTP is, and by the setting TRUSTED_PROXIES, which says that there
 * is one. The Host must be this machine's as well: a tunnel, or a page whose name has been made to mean 127.0.0.1,
 * comes with another.
 */
#include "base/cidr.h"
#include "gateway/filters.h"

bool user_header_is_local(const struct settings *settings)
{
    struct in6_addr address;
    return cidr_parse_address(settings->bind_address, &address) && cidr_is_loopback(&address) &&
           settings->trusted_proxies.len == 0;
}

static bool is_gateway(const struct settings *settings, const struct request *rq)
{
    struct str token = request_header(rq, STR("X-Gateway-Token"));
    return settings->gateway_token.len && token.ptr && str_eq_secret(token, settings->gateway_token);
}

static bool is_added_by_proxies(struct str name)
{
    switch (name.len) { /* on the way of every claim: most headers are told apart by their length */
    case 3: return str_ieq(name, STR("Via"));
    case 9: return str_ieq(name, STR("X-Real-IP")) || str_ieq(name, STR("Forwarded"));
    case 15: return str_ieq(name, STR("X-Forwarded-For"));
    case 16: return str_ieq(name, STR("X-Forwarded-Host"));
    case 17: return str_ieq(name, STR("X-Forwarded-Proto"));
    default: return false;
    }
}

/* nginx that is told nothing but proxy_pass adds no header, and speaks HTTP/1.0, as hardly any client does. */
static bool came_through_proxy(const struct request *rq)
{
    if (rq->head.minor == 0)
        return true;
    for (size_t i = 0; i < rq->head.header_count; i++)
        if (is_added_by_proxies(rq->head.headers[i].name))
            return true;
    return false;
}

/* "localhost", "127.0.0.1:5800", "[::1]:5800". */
static bool host_is_this_machine(struct str host)
{
    struct in6_addr address;
    struct str name = host;
    if (host.len && host.ptr[0] == '[') {
        ptrdiff_t end = str_find_char(host, ']');
        name = end < 0 ? host : str_make(host.ptr + 1, (size_t)end - 1);
    } else {
        ptrdiff_t colon = str_find_char(host, ':');
        name = colon < 0 ? host : str_first(host, (size_t)colon);
    }
    return str_ieq(name, STR("localhost")) || (cidr_parse_address(name, &address) && cidr_is_loopback(&address));
}

static bool is_believed(const struct gateway *gateway, const struct request *rq)
{
    switch ((enum trust_user_header)gateway->parts.settings->fcfs_trust_user_header) {
    case TRUST_USER_HEADER_ALWAYS: return true;
    case TRUST_USER_HEADER_NEVER: return false;
    case TRUST_USER_HEADER_AUTO: break;
    }
    return rq->identity.by_gateway ||
           (gateway->local && !came_through_proxy(rq) && host_is_this_machine(request_header(rq, STR("Host"))));
}

struct str user_header_read(const struct gateway *gateway, struct request *rq)
{
    const struct settings *settings = gateway->parts.settings;
    const struct str none = {NULL, 0};
    if (rq->route->rate != RATE_FCFS)
        return none;
    rq->identity.by_gateway = is_gateway(settings, rq);
    struct str user = str_trim(request_header(rq, settings->fcfs_user_header));
    return user.len && !guest_is_id(user) && is_believed(gateway, rq) ? user : none;
}
