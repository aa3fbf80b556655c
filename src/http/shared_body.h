/*
 * The body of an answer in pieces that are made once and read by many answers at the same time, on all loops. Each
 * holds a reference until its last byte is written; whoever makes bodies knows how to free one.
 */
#ifndef HTTP_SHARED_BODY_H
#define HTTP_SHARED_BODY_H

#include "base/str.h"

#include <stdatomic.h>

struct shared_body {
    atomic_size_t references;
    size_t length; /* of all pieces */
    size_t count;
    const struct str *pieces;
    void (*destroy)(struct shared_body *body);
};

/* Any thread. */
static inline void shared_body_hold(struct shared_body *body)
{
    atomic_fetch_add_explicit(&body->references, 1, memory_order_relaxed);
}

static inline void shared_body_release(struct shared_body *body)
{
    if (atomic_fetch_sub_explicit(&body->references, 1, memory_order_acq_rel) == 1)
        body->destroy(body);
}

#endif
