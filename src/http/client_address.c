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

/* A proxy that listens for IPv6 and IPv4 at once calls an IPv4 client "::ffff:1.2.3.4". It must not count as another.
 */
static struct str without_mapping(struct str hop)
{
    struct str prefix = STR("::ffff:");
    bool mapped = str_ieq(str_first(hop, prefix.len), prefix) && str_find_char(hop, '.') >= 0;
    return mapped ? str_from_offset(hop, prefix.len) : hop;
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

/* Goes leftwards from *client as long as that is one of our proxies. True when the list has ended before: what stands
 * to the left of it is to be believed as well. */
static bool walk(struct hop *client, struct str forwarded, const struct cidr_list *trusted)
{
    struct hop hop;
    while (cidr_contains(trusted, &client->address)) {
        if (!take_last(&forwarded, &hop.text))
            return true;
        hop.text = without_mapping(without_port(hop.text));
        if (!cidr_parse_address(hop.text, &hop.address))
            return false;
        *client = hop;
    }
    return false;
}

struct str client_address(struct hop peer, const struct http_head *head, const struct cidr_list *trusted)
{
    bool on = true;
    for (size_t i = head->header_count; on && i-- > 0;)
        if (str_ieq(head->headers[i].name, STR("X-Forwarded-For")))
            on = walk(&peer, head->headers[i].value, trusted);
    return peer.text;
}
