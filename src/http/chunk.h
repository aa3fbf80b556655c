/* Chunked request bodies: decodes what has arrived, strictly. Trailers are read, bounded and dropped. */
#ifndef HTTP_CHUNK_H
#define HTTP_CHUNK_H

#include "base/buf.h"
#include "tables/errors.h"

struct chunk_reader {
    int state;
    uint64_t left;   /* bytes of the current chunk still to come */
    size_t overhead; /* bytes of extensions and trailers, bounded */
    unsigned digits;
};

enum chunk_outcome { CHUNK_COMPLETE, CHUNK_MORE, CHUNK_REFUSED };

/* Takes bytes from `input`, adds the body's to `body` (whose max is the route's limit: past it 413), and tells
 * how many it took; on CHUNK_COMPLETE the rest belongs to the next request. The reader starts as zeros. */
enum chunk_outcome chunk_read(struct chunk_reader *reader, struct str input, struct buf *body, size_t *taken,
                              enum error *error);

#endif
