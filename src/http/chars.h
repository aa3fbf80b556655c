/* Which ASCII characters may stand where in HTTP/1.1 and in URLs, as one table of bits. Readers look bytes up
 * here instead of comparing ranges: one load per byte, and the rules stand in one place. */
#ifndef HTTP_CHARS_H
#define HTTP_CHARS_H

#include "base/str.h"

enum http_char {
    CHAR_TOKEN = 1,       /* methods and header names, RFC 9110 5.6.2 */
    CHAR_PATH = 2,        /* a path except '%', RFC 3986 3.3 */
    CHAR_QUERY = 4,       /* a query except '%': RFC 3986 3.4 and what browsers leave unescaped there */
    CHAR_HOST = 8,        /* names and IPv4 addresses in Host */
    CHAR_UNRESERVED = 16, /* never needs escaping, RFC 3986 2.3 */
    CHAR_HEX = 32,
};

extern const uint8_t http_chars[256];

static inline bool http_char_is(char c, enum http_char kind)
{
    return http_chars[(unsigned char)c] & kind;
}

/* Of a character that is CHAR_HEX. */
static inline unsigned http_hex_value(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

/* Does a '%' at `at` begin a complete escape? */
static inline bool http_escape_is_valid(struct str s, size_t at)
{
    return s.len - at >= 3 && http_char_is(s.ptr[at + 1], CHAR_HEX) && http_char_is(s.ptr[at + 2], CHAR_HEX);
}

#endif
