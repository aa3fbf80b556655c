/* How much of something each client address has (IPv6: each /64), over all loops: connections, streams, bytes of
 * answers that it has not taken yet. Touched when one begins and ends, so one lock is enough. */
#ifndef HTTP_ADDRESS_COUNTS_H
#define HTTP_ADDRESS_COUNTS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct address_counts;

struct address_counts *address_counts_create(void);
void address_counts_destroy(struct address_counts *counts);

/* False when the address's network would have more than `max`, or there is no memory. Who has nothing yet gets the
 * first, however large. */
bool address_counts_add(struct address_counts *counts, const struct in6_addr *address, size_t amount, size_t max);
void address_counts_remove(struct address_counts *counts, const struct in6_addr *address, size_t amount);

#endif
