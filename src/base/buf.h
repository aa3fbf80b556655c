/*
 * A growing byte buffer that must know its maximum. Adding past the maximum, or
 * when memory runs out, adds nothing and marks the buffer as failed; so a writer
 * may add many pieces and ask once at the end. Owner: whoever called buf_init,
 * who calls buf_free.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *data;
    size_t len;
    size_t size; /* allocated */
    size_t max;
    bool failed;
};

#define BUF_INIT(maximum) ((struct buf){.max = (maximum)})

void buf_init(struct buf *buf, size_t max);
void buf_free(struct buf *buf);

/* Empties it and forgets a failure; keeps the memory. */
void buf_clear(struct buf *buf);

/* Room for `more` bytes behind buf->data + buf->len; the caller writes there and
 * adds to len. NULL when there is none. */
static inline char *buf_reserve(struct buf *buf, size_t more);

bool buf_add(struct buf *buf, struct str s);
bool buf_add_char(struct buf *buf, char c);
bool buf_add_uint(struct buf *buf, uint64_t value);
bool buf_add_int(struct buf *buf, int64_t value);
__attribute__((format(printf, 2, 3))) bool buf_add_format(struct buf *buf, const char *format, ...);

/* Drops the first n bytes. */
void buf_consume(struct buf *buf, size_t n);

/* Adds a NUL that is not counted, for C interfaces; NULL when there is no room. */
const char *buf_c_string(struct buf *buf);

/* The slow half of buf_reserve. */
char *buf_grow(struct buf *buf, size_t more);

static inline char *buf_reserve(struct buf *buf, size_t more)
{
    return more <= buf->size - buf->len ? buf->data + buf->len : buf_grow(buf, more);
}

static inline struct str buf_str(const struct buf *buf)
{
    return (struct str){buf->data, buf->len};
}

/* The value as decimal digits into out, which has room for FORMAT_INT_MAX bytes; returns how many it took. */
enum { FORMAT_INT_MAX = 20 };
size_t format_uint(char *out, uint64_t value);
size_t format_int(char *out, int64_t value);

#endif
