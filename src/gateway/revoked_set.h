/* A bounded set of token ids, each until it expires. Ids are random and made by us, so 64 bits of them tell them apart.
 * Any thread; asking does not wait for others who ask. */
#ifndef GATEWAY_REVOKED_SET_H
#define GATEWAY_REVOKED_SET_H

#include "base/str.h"

#include <pthread.h>
#include <stdatomic.h>

struct revoked_entry {
    uint64_t token; /* hash; 0: no entry */
    int64_t expires_at;
};

struct revoked_set {
    pthread_rwlock_t lock;
    struct revoked_entry *entries; /* open addressing, at most half full */
    size_t size, max;
    atomic_size_t count;
};

void revoked_set_init(struct revoked_set *set, size_t max);
void revoked_set_free(struct revoked_set *set);

/* False when there is no room. What has expired already is not added. */
__attribute__((warn_unused_result)) bool revoked_set_add(struct revoked_set *set, struct str token_id,
                                                         int64_t expires_at, int64_t now);
bool revoked_set_has(struct revoked_set *set, struct str token_id);

/* Drops what has expired. */
void revoked_set_forget(struct revoked_set *set, int64_t now);

#endif
