#include "base/gzip_parts.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

enum { RAW_WINDOW = -15 /* zlib's way of asking for no header */, LEVEL = 1, MEMORY_LEVEL = 8 };
enum { FLUSH_BYTES = 16 /* more than the mark that a flush ends with */ };

struct gzip_sum gzip_sum_of(struct str plain)
{
    return (struct gzip_sum){(uint32_t)crc32_z(0, (const unsigned char *)plain.ptr, plain.len), plain.len};
}

struct gzip_sum gzip_sum_join(struct gzip_sum first, struct gzip_sum second)
{
    uint32_t crc = (uint32_t)crc32_combine(first.crc, second.crc, (z_off_t)second.length);
    return (struct gzip_sum){crc, first.length + second.length};
}

static void add_little_endian(struct buf *out, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buf_add_char(out, (char)(value >> 8 * i & 255));
}

/* A stored block (RFC 1951 3.2.4). It begins at a byte, as everything here does. */
static void add_stored(struct buf *out, struct str plain, bool is_last)
{
    assert(plain.len <= UINT16_MAX);
    buf_add_char(out, is_last);
    add_little_endian(out, (uint32_t)plain.len, 2);
    add_little_endian(out, ~(uint32_t)plain.len, 2);
    buf_add(out, plain);
}

void gzip_begin(struct buf *out, struct str plain)
{
    static const char header[] = {0x1f, (char)0x8b, 8 /* deflate */, 0, 0, 0, 0, 0, 0, 3 /* Unix */};
    buf_add(out, str_make(header, sizeof(header)));
    add_stored(out, plain, false);
}

void gzip_end(struct buf *out, struct str plain, struct gzip_sum whole)
{
    add_stored(out, plain, true);
    add_little_endian(out, whole.crc, 4);
    add_little_endian(out, (uint32_t)whole.length, 4);
}

/* Each thread keeps one compressor and uses it again. */
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
    if (deflateInit2(stream, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return NULL;
    }
    pthread_setspecific(key, stream);
    return stream;
}

/* A new compressor looks back at nothing, and the flush ends at a byte: so parts may stand in any order. */
bool gzip_part(struct buf *out, struct str plain)
{
    z_stream *stream = plain.len <= UINT32_MAX / 2 ? thread_stream() : NULL;
    size_t bound = stream ? deflateBound(stream, plain.len) + FLUSH_BYTES : 0;
    char *room = stream ? buf_reserve(out, bound) : NULL;
    if (!room)
        return false;
    stream->next_in = (unsigned char *)plain.ptr;
    stream->avail_in = (unsigned)plain.len;
    stream->next_out = (unsigned char *)room;
    stream->avail_out = (unsigned)bound;
    if (deflate(stream, Z_FULL_FLUSH) != Z_OK || stream->avail_in || !stream->avail_out)
        return false;
    out->len += bound - stream->avail_out;
    return true;
}
