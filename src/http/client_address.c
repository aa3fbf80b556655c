#include "http/client_address.h"

/* "1.2.3.4:5678", "[2001:db8::1]:80" and "[2001:db8::1]" without port and brackets. */
static struct str without_port(struct str hop)
{
    if (hop.len && hop.ptr[0] == '[') {
        ptrdiff_t end = str_find_char(hop, ']');
        return end < 0 ? hop : str_make(hop.ptr + 1, (size_t)end - 1);
    }
    ptrdiff_t colon = str_find_char(hop, ':');
    bool is_v4_with_port = colon >= 0 && str_find_char(str_from_offset(hop, (size_t)colon + 1), ':') < 0;
    return is_v4_with_port ? str_first(hop, (size_t)colon) : hop;
}

static bool is_trusted(struct str hop, const struct cidr_list *trusted)
{
    struct in6_addr address;
    return cidr_parse_address(hop, &address) && cidr_contains(trusted, &address);
}

/* Takes the last item off *list. */
static bool take_last(struct str *list, struct str *item)
{
    if (!list->ptr)
        return false;
    size_t at = list->len;
    while (at && list->ptr[at - 1] != ',')
        at--;
    *item = str_trim(str_from_offset(*list, at));
    *list = at ? str_first(*list, at - 1) : (struct str){NULL, 0};
    return true;
}

struct str client_address(struct str peer, struct str forwarded, const struct cidr_list *trusted)
{
    struct str client = peer, hop;
    while (is_trusted(client, trusted) && take_last(&forwarded, &hop)) {
        struct in6_addr address;
        hop = without_port(hop);
        if (!cidr_parse_address(hop, &address))
            break;
        client = hop;
    }
    return client;
}
