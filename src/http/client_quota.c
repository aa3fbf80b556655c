#include "http/client_quota.h"

#include "http/address_counts.h"

#include <stdatomic.h>
#include <stdlib.h>

struct client_quota {
    atomic_size_t total;
    size_t max, max_per_address;
    struct address_counts *clients;
};

struct client_quota *client_quota_create(size_t max, size_t max_per_address)
{
    struct client_quota *quota = calloc(1, sizeof(*quota));
    if (!quota)
        return NULL;
    quota->max = max;
    quota->max_per_address = max_per_address;
    quota->clients = address_counts_create();
    if (!quota->clients) {
        free(quota);
        return NULL;
    }
    return quota;
}

void client_quota_destroy(struct client_quota *quota)
{
    address_counts_destroy(quota->clients);
    free(quota);
}

enum client_quota_outcome client_quota_add(struct client_quota *quota, const struct in6_addr *client, size_t amount)
{
    size_t before = atomic_fetch_add(&quota->total, amount);
    bool fits = before == 0 || before + amount <= quota->max;
    if (fits && address_counts_add(quota->clients, client, amount, quota->max_per_address))
        return CLIENT_QUOTA_ADDED;
    atomic_fetch_sub(&quota->total, amount);
    return fits ? CLIENT_QUOTA_ADDRESS_FULL : CLIENT_QUOTA_FULL;
}

void client_quota_remove(struct client_quota *quota, const struct in6_addr *client, size_t amount)
{
    address_counts_remove(quota->clients, client, amount);
    atomic_fetch_sub(&quota->total, amount);
}

size_t client_quota_total(const struct client_quota *quota)
{
    return atomic_load_explicit(&quota->total, memory_order_relaxed);
}

bool client_quota_is_scarce(const struct client_quota *quota)
{
    return client_quota_total(quota) > quota->max / 4 * 3;
}
