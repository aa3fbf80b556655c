#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

void buf_init(struct buf *buf, size_t max)
{
    *buf = BUF_INIT(max);
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = BUF_INIT(buf->max);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
}

char *buf_grow(struct buf *buf, size_t more)
{
    if (more > buf->max - buf->len) {
        buf->failed = true;
        return NULL;
    }
    size_t size = buf->size ? buf->size * 2 : 256;
    while (size < buf->len + more)
        size *= 2;
    if (size > buf->max)
        size = buf->max;
    char *data = realloc(buf->data, size);
    if (!data) {
        buf->failed = true;
        return NULL;
    }
    buf->data = data;
    buf->size = size;
    return data + buf->len;
}

bool buf_add(struct buf *buf, struct str s)
{
    if (s.len == 0)
        return true;
    char *room = buf_reserve(buf, s.len);
    if (!room)
        return false;
    memcpy(room, s.ptr, s.len);
    buf->len += s.len;
    return true;
}

bool buf_add_char(struct buf *buf, char c)
{
    return buf_add(buf, (struct str){&c, 1});
}

size_t format_uint(char *out, uint64_t value)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    return n;
}

bool buf_add_uint(struct buf *buf, uint64_t value)
{
    char digits[20];
    return buf_add(buf, (struct str){digits, format_uint(digits, value)});
}

bool buf_add_int(struct buf *buf, int64_t value)
{
    if (value >= 0)
        return buf_add_uint(buf, (uint64_t)value);
    char digits[21] = "-";
    size_t n = format_uint(digits + 1, 0 - (uint64_t)value);
    return buf_add(buf, (struct str){digits, n + 1});
}

bool buf_add_format(struct buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return false;

    char *room = buf_reserve(buf, (size_t)length + 1);
    if (!room)
        return false;
    va_start(args, format);
    vsnprintf(room, (size_t)length + 1, format, args);
    va_end(args);
    buf->len += (size_t)length;
    return true;
}

void buf_consume(struct buf *buf, size_t n)
{
    if (n >= buf->len) {
        buf->len = 0;
        return;
    }
    memmove(buf->data, buf->data + n, buf->len - n);
    buf->len -= n;
}

const char *buf_c_string(struct buf *buf)
{
    char *room = buf_reserve(buf, 1);
    if (!room)
        return NULL;
    *room = '\0';
    return buf->data;
}
