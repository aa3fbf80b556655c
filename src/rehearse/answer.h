/*
 * Reads an HTTP/1.1 answer out of the bytes that have arrived, and what the box office says in it. The caller keeps the
 * bytes from the answer's first one on and calls again with more of them until the answer is complete.
 */
#ifndef REHEARSE_ANSWER_H
#define REHEARSE_ANSWER_H

#include "base/arena.h"

enum { ANSWER_HEAD_MAX = 16 * 1024, ANSWER_BODY_MAX = 96 * 1024 * 1024 };

struct answer {
    int status;
    int64_t retry_after_s; /* -1: not said */
    bool closes;           /* the server closes the connection behind it */
    struct str etag;
    struct str body; /* in the bytes */
    size_t length;   /* of the whole answer */
};

enum answer_outcome { ANSWER_COMPLETE, ANSWER_MORE, ANSWER_BROKEN };

/* `ended`: the server has closed the connection; no more bytes will come. */
enum answer_outcome answer_read(struct str bytes, bool ended, struct answer *answer);

/* What the box office says in the body. */
struct verdict {
    bool success;
    struct str reason;           /* ptr NULL: none */
    struct str reserved_by;      /* ptr NULL: not said */
    int64_t seat;                /* -1: not said; 0: said that there is none */
    int64_t sequence, remaining; /* -1: not said */
};

/* False when the body is no JSON object. Strings point into the body or the arena. */
bool verdict_read(struct str body, struct arena *arena, struct verdict *verdict);

/* The numbers behind the second and third '-' of the map's ETag, "house-generation-version"; -1 when it has none. */
void etag_read(struct str etag, int64_t *generation, int64_t *version);

/* Calls `take` for each taken seat of a seat map, in their order; returns how many seats there are, or -1 when this is
 * no seat map. */
int64_t map_read(struct str body, void (*take)(void *context, int64_t seat), void *context);

#endif
