/* gzip with zlib, for answers. Each thread keeps one compressor and uses it again. */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/buf.h"

/* Replaces what is in `out`. False when it does not fit or there is no memory: send the plain text. */
bool gzip_compress(struct str plain, struct buf *out);

#endif
