#include "base/json_scan.h"

#include "base/json_text.h"

#include <math.h>
#include <stdlib.h>

static bool fail(struct json_scan *scan, const char *problem)
{
    scan->problem = problem;
    return false;
}

static size_t left(const struct json_scan *scan)
{
    return (size_t)(scan->end - scan->at);
}

void json_scan_space(struct json_scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' || *scan->at == '\r' || *scan->at == '\t'))
        scan->at++;
}

bool json_scan_take(struct json_scan *scan, char c)
{
    json_scan_space(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

enum json_kind json_scan_kind(const struct json_scan *scan)
{
    if (scan->at == scan->end)
        return JSON_IS_NOTHING;
    switch (*scan->at) {
    case '"': return JSON_IS_STRING;
    case '{': return JSON_IS_OBJECT;
    case '[': return JSON_IS_ARRAY;
    case 't': return JSON_IS_TRUE;
    case 'f': return JSON_IS_FALSE;
    case 'n': return JSON_IS_NULL;
    case '-': return JSON_IS_NUMBER;
    default: return *scan->at >= '0' && *scan->at <= '9' ? JSON_IS_NUMBER : JSON_IS_NOTHING;
    }
}

bool json_scan_word(struct json_scan *scan, struct str word)
{
    if (left(scan) < word.len || memcmp(scan->at, word.ptr, word.len) != 0)
        return fail(scan, "a value is expected");
    scan->at += word.len;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hexadecimal digits at `at`, or -1. */
static int32_t hex_four(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* At the backslash of a \u escape; takes the second of a pair of surrogates too. */
static bool scan_unicode(struct json_scan *scan, uint32_t *character)
{
    int32_t first = hex_four(scan->at + 2, scan->end);
    if (first < 0)
        return fail(scan, "\\u needs four hexadecimal digits");
    if (first == 0)
        return fail(scan, "the character U+0000 is not allowed");
    *character = (uint32_t)first;
    if (first < 0xD800 || first > 0xDFFF) {
        scan->at += 6;
        return true;
    }
    int32_t second = -1;
    if (first < 0xDC00 && left(scan) >= 12 && scan->at[6] == '\\' && scan->at[7] == 'u')
        second = hex_four(scan->at + 8, scan->end);
    if (second < 0xDC00 || second > 0xDFFF)
        return fail(scan, "half of a surrogate pair is missing");
    *character = 0x10000u + ((uint32_t)(first - 0xD800) << 10) + (uint32_t)(second - 0xDC00);
    scan->at += 12;
    return true;
}

/* At a backslash. */
static bool scan_escape(struct json_scan *scan, uint32_t *character)
{
    if (left(scan) < 2)
        return fail(scan, "the string has no end");
    switch (scan->at[1]) {
    case '"': *character = '"'; break;
    case '\\': *character = '\\'; break;
    case '/': *character = '/'; break;
    case 'b': *character = '\b'; break;
    case 'f': *character = '\f'; break;
    case 'n': *character = '\n'; break;
    case 'r': *character = '\r'; break;
    case 't': *character = '\t'; break;
    case 'u': return scan_unicode(scan, character);
    default: return fail(scan, "there is no such escape");
    }
    scan->at += 2;
    return true;
}

/* Moves to the closing quote, checking all on the way. */
static bool find_closing_quote(struct json_scan *scan, bool *escaped)
{
    *escaped = false;
    for (;;) {
        scan->at += json_plain_length(scan->at, left(scan));
        if (scan->at == scan->end)
            return fail(scan, "the string has no end");
        if (*scan->at == '"')
            return true;
        if (*scan->at == '\\') {
            uint32_t character;
            *escaped = true;
            if (!scan_escape(scan, &character))
                return false;
        } else if ((unsigned char)*scan->at < 0x20) {
            return fail(scan, "a control character must be escaped");
        } else {
            size_t length = str_utf8_length(str_make(scan->at, left(scan)));
            if (length == 0)
                return fail(scan, "the text is not UTF-8");
            scan->at += length;
        }
    }
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | (c >> 6));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | (c >> 12));
        *out++ = (char)(0x80 | ((c >> 6) & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | (c >> 18));
        *out++ = (char)(0x80 | ((c >> 12) & 0x3F));
        *out++ = (char)(0x80 | ((c >> 6) & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

/* `raw` has been checked. Its text is never longer than its escapes were. */
static struct str unescape(struct json_scan *scan, struct str raw)
{
    char *text = arena_bytes(scan->arena, raw.len), *out = text;
    struct json_scan inner = {.at = raw.ptr, .end = raw.ptr + raw.len};
    while (inner.at < inner.end) {
        uint32_t character;
        if (*inner.at != '\\')
            *out++ = *inner.at++;
        else if (scan_escape(&inner, &character))
            out = put_utf8(out, character);
    }
    return str_make(text, (size_t)(out - text));
}

bool json_scan_string(struct json_scan *scan, struct str *text)
{
    bool escaped;
    const char *first = ++scan->at;
    if (!find_closing_quote(scan, &escaped))
        return false;
    *text = str_make(first, (size_t)(scan->at - first));
    if (escaped)
        *text = unescape(scan, *text);
    scan->at++;
    return true;
}

bool json_scan_skip_string(struct json_scan *scan)
{
    bool escaped;
    scan->at++;
    if (!find_closing_quote(scan, &escaped))
        return false;
    scan->at++;
    return true;
}

static size_t count_digits(const struct json_scan *scan)
{
    const char *at = scan->at;
    while (at < scan->end && *at >= '0' && *at <= '9')
        at++;
    return (size_t)(at - scan->at);
}

/* The fraction and the exponent. A double ends near 1.8e308: what has more than 308
 * places before its point is refused, however it is written. */
/* The largest double is 1.797…e308: only what has as many places must be read to know. */
static bool fits_double(struct json_scan *scan, const char *first, int64_t places)
{
    enum { PLACES_OF_LARGEST = 309 };
    if (places != PLACES_OF_LARGEST)
        return places < PLACES_OF_LARGEST;
    return isfinite(strtod(arena_c_string(scan->arena, str_make(first, (size_t)(scan->at - first))), NULL));
}

static bool scan_fraction(struct json_scan *scan, const char *first, size_t places)
{
    if (scan->at < scan->end && *scan->at == '.') {
        scan->at++;
        size_t digits = count_digits(scan);
        if (digits == 0)
            return fail(scan, "a digit is expected");
        scan->at += digits;
    }
    int64_t exponent = 0;
    if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
        scan->at++;
        bool negative = scan->at < scan->end && *scan->at == '-';
        if (scan->at < scan->end && (*scan->at == '-' || *scan->at == '+'))
            scan->at++;
        size_t digits = count_digits(scan);
        if (digits == 0)
            return fail(scan, "a digit is expected");
        if (!str_to_int64(str_make(scan->at, digits), &exponent) || exponent > 1000000)
            exponent = 1000000;
        if (negative)
            exponent = -exponent;
        scan->at += digits;
    }
    if (!fits_double(scan, first, (int64_t)places + exponent))
        return fail(scan, "the number is out of range");
    return true;
}

bool json_scan_number(struct json_scan *scan, bool *whole, int64_t *value)
{
    const char *first = scan->at;
    if (*scan->at == '-')
        scan->at++;
    size_t digits = count_digits(scan);
    if (digits == 0)
        return fail(scan, "a digit is expected");
    if (digits > 1 && *scan->at == '0')
        return fail(scan, "a number must not begin with 0");
    scan->at += digits;
    *whole = scan->at == scan->end || (*scan->at != '.' && *scan->at != 'e' && *scan->at != 'E');
    if (!*whole)
        return scan_fraction(scan, first, digits);
    if (!str_to_int64(str_make(first, (size_t)(scan->at - first)), value))
        return fail(scan, "the number is out of range");
    return true;
}
