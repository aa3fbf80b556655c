#include "base/cidr.h"

#include <arpa/inet.h>

static bool parse_v6(struct str text, struct in6_addr *address)
{
    char copy[INET6_ADDRSTRLEN];
    if (text.len >= sizeof(copy) || str_find_char(text, '\0') >= 0)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return inet_pton(AF_INET6, copy, address) == 1;
}

/* 0 … 255 off the front of *text, without a leading 0 that some would read as octal. */
static bool take_octet(struct str *text, unsigned char *octet)
{
    unsigned value = 0;
    size_t digits = 0;
    for (; digits < text->len && text->ptr[digits] >= '0' && text->ptr[digits] <= '9'; digits++) {
        if (digits > 0 && value == 0)
            return false;
        value = value * 10 + (unsigned)(text->ptr[digits] - '0');
        if (value > 255)
            return false;
    }
    *octet = (unsigned char)value;
    *text = str_from_offset(*text, digits);
    return digits > 0;
}

/* As inet_pton reads it, which most requests would call twice and more. */
static bool parse_v4(struct str text, struct in6_addr *address)
{
    unsigned char mapped[16] = {[10] = 0xff, [11] = 0xff};
    for (size_t i = 12; i < sizeof(mapped); i++) {
        if (!take_octet(&text, &mapped[i]))
            return false;
        bool last = i == sizeof(mapped) - 1;
        if (last ? text.len > 0 : text.len == 0 || text.ptr[0] != '.')
            return false;
        text = str_from_offset(text, 1);
    }
    memcpy(address, mapped, sizeof(mapped));
    return true;
}

bool cidr_parse_address(struct str text, struct in6_addr *address)
{
    return str_find_char(text, ':') < 0 ? parse_v4(text, address) : parse_v6(text, address);
}

static bool parse_one(struct str text, struct cidr *cidr)
{
    ptrdiff_t slash = str_find_char(text, '/');
    struct str address = slash < 0 ? text : str_first(text, (size_t)slash);
    if (!cidr_parse_address(address, &cidr->network))
        return false;
    bool is_v4 = str_find_char(address, ':') < 0;
    uint64_t bits = is_v4 ? 32 : 128, most = bits;
    if (slash >= 0 && (!str_to_uint64(str_from_offset(text, (size_t)slash + 1), &bits) || bits > most))
        return false;
    cidr->bits = (unsigned)bits + (is_v4 ? 96 : 0);
    return true;
}

bool cidr_parse_list(struct str text, struct cidr_list *list)
{
    struct str item;
    list->count = 0;
    while (str_split(&text, ',', &item)) {
        item = str_trim(item);
        if (item.len == 0)
            continue;
        if (list->count == CIDR_MAX || !parse_one(item, &list->items[list->count]))
            return false;
        list->count++;
    }
    return true;
}

static bool shares_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

bool cidr_contains(const struct cidr_list *list, const struct in6_addr *address)
{
    for (size_t i = 0; i < list->count; i++)
        if (shares_bits(list->items[i].network.s6_addr, address->s6_addr, list->items[i].bits))
            return true;
    return false;
}

struct in6_addr cidr_network(const struct in6_addr *address)
{
    struct in6_addr network = *address;
    if (!IN6_IS_ADDR_V4MAPPED(address))
        memset(network.s6_addr + 8, 0, 8);
    return network;
}

struct str cidr_network_text(struct str address, char out[CIDR_NETWORK_TEXT])
{
    struct in6_addr bytes;
    if (str_find_char(address, ':') < 0 || !cidr_parse_address(address, &bytes) || IN6_IS_ADDR_V4MAPPED(&bytes))
        return address;
    bytes = cidr_network(&bytes);
    return str_from(inet_ntop(AF_INET6, &bytes, out, CIDR_NETWORK_TEXT));
}

bool cidr_is_loopback(const struct in6_addr *address)
{
    return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}
