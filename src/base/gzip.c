#include "base/gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

enum { GZIP_WINDOW = 15 + 16 /* zlib's way of asking for a gzip header */, LEVEL = 1, MEMORY_LEVEL = 8 };

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void free_stream(void *stream)
{
    deflateEnd(stream);
    free(stream);
}

static void make_key(void)
{
    pthread_key_create(&key, free_stream);
}

static z_stream *thread_stream(void)
{
    pthread_once(&once, make_key);
    z_stream *stream = pthread_getspecific(key);
    if (stream)
        return deflateReset(stream) == Z_OK ? stream : NULL;
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    if (deflateInit2(stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return NULL;
    }
    pthread_setspecific(key, stream);
    return stream;
}

bool gzip_compress(struct str plain, struct buf *out)
{
    buf_clear(out);
    z_stream *stream = plain.len <= UINT32_MAX ? thread_stream() : NULL;
    if (!stream)
        return false;
    size_t bound = deflateBound(stream, plain.len);
    char *room = buf_reserve(out, bound);
    if (!room)
        return false;
    stream->next_in = (unsigned char *)plain.ptr;
    stream->avail_in = (unsigned)plain.len;
    stream->next_out = (unsigned char *)room;
    stream->avail_out = (unsigned)bound;
    if (deflate(stream, Z_FINISH) != Z_STREAM_END)
        return false;
    out->len = bound - stream->avail_out;
    return true;
}
