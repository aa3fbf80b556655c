#include "http/address_counts.h"

#include "base/cidr.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 4096 };

struct entry {
    struct entry *next;
    struct in6_addr network;
    size_t count;
};

struct address_counts {
    pthread_mutex_t mutex;
    struct entry *buckets[BUCKETS];
};

struct address_counts *address_counts_create(void)
{
    struct address_counts *counts = calloc(1, sizeof(*counts));
    if (counts)
        pthread_mutex_init(&counts->mutex, NULL);
    return counts;
}

void address_counts_destroy(struct address_counts *counts)
{
    for (size_t i = 0; i < BUCKETS; i++)
        while (counts->buckets[i]) {
            struct entry *entry = counts->buckets[i];
            counts->buckets[i] = entry->next;
            free(entry);
        }
    pthread_mutex_destroy(&counts->mutex);
    free(counts);
}

/* The link that points to the network's entry, or the end of its bucket. */
static struct entry **find(struct address_counts *counts, const struct in6_addr *network)
{
    uint64_t hash = str_hash(str_make((const char *)network, sizeof(*network)));
    struct entry **link = &counts->buckets[hash % BUCKETS];
    while (*link && memcmp(&(*link)->network, network, sizeof(*network)) != 0)
        link = &(*link)->next;
    return link;
}

bool address_counts_add(struct address_counts *counts, const struct in6_addr *address, size_t amount, size_t max)
{
    struct in6_addr network = cidr_network(address);
    pthread_mutex_lock(&counts->mutex);
    struct entry **link = find(counts, &network);
    if (!*link && (*link = calloc(1, sizeof(**link))))
        (*link)->network = network;
    size_t has = *link ? (*link)->count : 0;
    bool admitted = *link && (has == 0 || (has <= max && amount <= max - has));
    if (admitted)
        (*link)->count += amount;
    pthread_mutex_unlock(&counts->mutex);
    return admitted;
}

void address_counts_remove(struct address_counts *counts, const struct in6_addr *address, size_t amount)
{
    struct in6_addr network = cidr_network(address);
    pthread_mutex_lock(&counts->mutex);
    struct entry **link = find(counts, &network);
    struct entry *entry = *link;
    if (entry && (entry->count -= amount) == 0) {
        *link = entry->next;
        free(entry);
    }
    pthread_mutex_unlock(&counts->mutex);
}
