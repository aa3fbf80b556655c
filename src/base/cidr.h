/* Lists of networks ("127.0.0.1, 10.0.0.0/8, fd00::/8") and whether an address is in one. */
#ifndef BASE_CIDR_H
#define BASE_CIDR_H

#include "base/str.h"

#include <netinet/in.h>

enum { CIDR_MAX = 64 };

struct cidr {
    struct in6_addr network; /* IPv4 as mapped */
    unsigned bits;           /* of 128 */
};

struct cidr_list {
    struct cidr items[CIDR_MAX];
    size_t count;
};

/* Comma-separated; an address without "/bits" is a network of one. False when something is not understood. */
bool cidr_parse_list(struct str text, struct cidr_list *list);

/* Numeric IPv4 or IPv6 text; IPv4 comes out mapped. */
bool cidr_parse_address(struct str text, struct in6_addr *address);

/* One who has IPv6 has a whole network of it, so limits by address mean this: the /64 of an IPv6 address, an IPv4
 * address itself. */
struct in6_addr cidr_network(const struct in6_addr *address);

/* The same as text, in `out` where it is not the address as given; text that is no address stays as it is. */
enum { CIDR_NETWORK_TEXT = INET6_ADDRSTRLEN };
struct str cidr_network_text(struct str address, char out[CIDR_NETWORK_TEXT]);

/* 127.0.0.0/8 and ::1: nothing comes from there, or goes there, but on this machine. */
bool cidr_is_loopback(const struct in6_addr *address);

bool cidr_contains(const struct cidr_list *list, const struct in6_addr *address);

#endif
