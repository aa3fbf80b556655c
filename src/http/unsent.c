#include "http/unsent.h"

#include "http/address_counts.h"

#include <stdatomic.h>
#include <stdlib.h>

struct unsent {
    atomic_size_t total;
    size_t max, max_per_address;
    struct address_counts *clients;
};

struct unsent *unsent_create(size_t max, size_t max_per_address)
{
    struct unsent *unsent = calloc(1, sizeof(*unsent));
    if (!unsent)
        return NULL;
    unsent->max = max;
    unsent->max_per_address = max_per_address;
    unsent->clients = address_counts_create();
    if (!unsent->clients) {
        free(unsent);
        return NULL;
    }
    return unsent;
}

void unsent_destroy(struct unsent *unsent)
{
    address_counts_destroy(unsent->clients);
    free(unsent);
}

bool unsent_add(struct unsent *unsent, const struct in6_addr *client, size_t bytes)
{
    size_t before = atomic_fetch_add(&unsent->total, bytes);
    bool fits = before == 0 || before + bytes <= unsent->max;
    if (fits && address_counts_add(unsent->clients, client, bytes, unsent->max_per_address))
        return true;
    atomic_fetch_sub(&unsent->total, bytes);
    return false;
}

void unsent_remove(struct unsent *unsent, const struct in6_addr *client, size_t bytes)
{
    address_counts_remove(unsent->clients, client, bytes);
    atomic_fetch_sub(&unsent->total, bytes);
}

size_t unsent_bytes(const struct unsent *unsent)
{
    return atomic_load_explicit(&unsent->total, memory_order_relaxed);
}

bool unsent_is_scarce(const struct unsent *unsent)
{
    return unsent_bytes(unsent) > unsent->max / 4 * 3;
}
