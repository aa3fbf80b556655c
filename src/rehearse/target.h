/*
 * Whom to ask. A name is looked up once; every address it has must be a loopback address, unless the operator says that
 * the server is theirs; and connections go to the address that was checked, never to what the name means a moment
 * later.
 */
#ifndef REHEARSE_TARGET_H
#define REHEARSE_TARGET_H

#include "base/buf.h"

#include <netinet/in.h>

enum { TARGET_HOST_MAX = 255, TARGET_TEXT_MAX = 300 };

struct target {
    char host[TARGET_HOST_MAX + 1];  /* as written, without the brackets of IPv6 */
    char authority[TARGET_TEXT_MAX]; /* host:port for the header Host */
    struct sockaddr_storage address;
    socklen_t address_size;
};

/* "http://localhost:5800", a path of "/" allowed. False with a sentence in *problem, also for https and for addresses
 * that may not be asked. */
__attribute__((warn_unused_result)) bool target_parse(struct str url, bool owned, struct target *target,
                                                      struct buf *problem);

/* 127.0.0.0/8 and ::1, also 127.0.0.0/8 mapped into IPv6. */
bool target_is_loopback(const struct sockaddr *address);

/* A socket that does not block, for this target. From an address of its own where that is possible and `own` is above
 * 0: the loopback network of IPv4 has 16 million of them. Returns -1 with errno. `connected` tells whether it already
 * is. */
int target_connect(const struct target *target, uint32_t own, bool *connected);

/* Can connections to it come from addresses of their own? */
bool target_has_own_addresses(const struct target *target);

/* The text of the address number `own`, or of the one that all share with 0. */
void target_own_address(uint32_t own, char text[INET_ADDRSTRLEN]);

#endif
