/*
 * How much of something all clients have together, and each client address (IPv6: each /64): bytes of large answers
 * that they have not read yet, open streams. Any thread.
 */
#ifndef HTTP_CLIENT_QUOTA_H
#define HTTP_CLIENT_QUOTA_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct client_quota;

struct client_quota *client_quota_create(size_t max, size_t max_per_address);
void client_quota_destroy(struct client_quota *quota);

enum client_quota_outcome {
    CLIENT_QUOTA_ADDED,
    CLIENT_QUOTA_FULL,         /* all have too much */
    CLIENT_QUOTA_ADDRESS_FULL, /* this one has, or there is no memory */
};

/* Who is the first gets it, however much it is. */
__attribute__((warn_unused_result)) enum client_quota_outcome
client_quota_add(struct client_quota *quota, const struct in6_addr *client, size_t amount);
void client_quota_remove(struct client_quota *quota, const struct in6_addr *client, size_t amount);

size_t client_quota_total(const struct client_quota *quota);

/* Three quarters are taken. */
bool client_quota_is_scarce(const struct client_quota *quota);

#endif
