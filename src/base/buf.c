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

static size_t count_digits(uint64_t value)
{
    size_t count = 1;
    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Two digits at a time, as divisions are what it costs. */
size_t format_uint(char *out, uint64_t value)
{
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243"
        "4445464748495051525354555657585960616263646566676869707172737475767778798081828384858687"
        "888990919293949596979899";
    size_t count = count_digits(value);
    char *at = out + count;
    for (; value >= 100; value /= 100)
        memcpy(at -= 2, pairs + value % 100 * 2, 2);
    if (value >= 10)
        memcpy(out, pairs + value * 2, 2);
    else
        *out = (char)('0' + value);
    return count;
}

size_t format_int(char *out, int64_t value)
{
    if (value >= 0)
        return format_uint(out, (uint64_t)value);
    *out = '-';
    return 1 + format_uint(out + 1, 0 - (uint64_t)value);
}

bool buf_add_uint(struct buf *buf, uint64_t value)
{
    char digits[FORMAT_INT_MAX];
    return buf_add(buf, (struct str){digits, format_uint(digits, value)});
}

bool buf_add_int(struct buf *buf, int64_t value)
{
    char digits[FORMAT_INT_MAX];
    return buf_add(buf, (struct str){digits, format_int(digits, value)});
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
