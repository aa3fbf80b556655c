/*
 * How many bytes of large answers wait for their clients to read them, in all and for each client address. A client
 * that does not read keeps the memory of its answer from being used again; so there is a limit. Any thread.
 */
#ifndef HTTP_UNSENT_H
#define HTTP_UNSENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct unsent;

struct unsent *unsent_create(size_t max, size_t max_per_address);
void unsent_destroy(struct unsent *unsent);

/* False: too much waits already. A single answer always goes, however large. */
__attribute__((warn_unused_result)) bool unsent_add(struct unsent *unsent, const struct in6_addr *client, size_t bytes);
void unsent_remove(struct unsent *unsent, const struct in6_addr *client, size_t bytes);

size_t unsent_bytes(const struct unsent *unsent);

/* Room becomes scarce: clients that have stopped reading must go sooner than they otherwise would. */
bool unsent_is_scarce(const struct unsent *unsent);

#endif
