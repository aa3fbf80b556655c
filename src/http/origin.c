#include "http/origin.h"

/* The host only is compared, since a proxy in front may end TLS. */
static bool is_host(struct str origin, struct str host)
{
    origin = str_starts(origin, STR("https://"))  ? str_from_offset(origin, 8)
             : str_starts(origin, STR("http://")) ? str_from_offset(origin, 7)
                                                  : STR("");
    return origin.len && str_ieq(origin, host);
}

enum origin request_origin(const struct request *rq)
{
    struct str site = request_header(rq, STR("Sec-Fetch-Site"));
    struct str origin = request_header(rq, STR("Origin"));
    if (site.ptr)
        return str_eq(site, STR("same-origin")) ? ORIGIN_OURS : ORIGIN_OTHER;
    if (origin.ptr)
        return is_host(origin, request_header(rq, STR("Host"))) ? ORIGIN_OURS : ORIGIN_OTHER;
    return ORIGIN_UNKNOWN;
}
