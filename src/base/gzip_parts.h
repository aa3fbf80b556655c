/*
 * A gzip file out of parts that are compressed each by itself: where a part of a large text changes, only that part is
 * compressed anew. A file is gzip_begin, any number of gzip_part one behind the other, gzip_end. Any thread.
 */
#ifndef BASE_GZIP_PARTS_H
#define BASE_GZIP_PARTS_H

#include "base/buf.h"

/* What the file's end has to tell of the text before it; joined in the order of the parts. {0} is that of no text. */
struct gzip_sum {
    uint32_t crc;
    size_t length;
};
struct gzip_sum gzip_sum_of(struct str plain);
struct gzip_sum gzip_sum_join(struct gzip_sum first, struct gzip_sum second);

/* Each adds to `out`. `plain` of begin and end is short (up to 65,535 bytes) and stays as it is. */
void gzip_begin(struct buf *out, struct str plain);
void gzip_end(struct buf *out, struct str plain, struct gzip_sum whole);
/* False when it does not fit or there is no memory. */
__attribute__((warn_unused_result)) bool gzip_part(struct buf *out, struct str plain);

#endif
