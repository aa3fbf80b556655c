#include "base/str.h"

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

/* Mostly the case is the same, too: eight bytes at a time for as long as it is. */
bool str_same_letters(const char *a, const char *b, size_t len)
{
    size_t at = 0;
    for (uint64_t left, right; len - at >= sizeof(left); at += sizeof(left)) {
        memcpy(&left, a + at, sizeof(left));
        memcpy(&right, b + at, sizeof(right));
        if (left != right)
            break;
    }
    for (; at < len; at++)
        if (a[at] != b[at] && lower(a[at]) != lower(b[at]))
            return false;
    return true;
}

int str_compare(struct str a, struct str b)
{
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

ptrdiff_t str_find_char(struct str s, char c)
{
    const char *at = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return at ? at - s.ptr : -1;
}

bool str_contains(struct str s, struct str part)
{
    if (part.len == 0)
        return true;
    for (size_t i = 0; i + part.len <= s.len; i++)
        if (memcmp(s.ptr + i, part.ptr, part.len) == 0)
            return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool str_split(struct str *rest, char separator, struct str *item)
{
    if (!rest->ptr)
        return false;
    ptrdiff_t at = str_find_char(*rest, separator);
    if (at < 0) {
        *item = *rest;
        *rest = (struct str){NULL, 0};
    } else {
        *item = str_first(*rest, (size_t)at);
        *rest = str_from_offset(*rest, (size_t)at + 1);
    }
    return true;
}

bool str_to_uint64(struct str s, uint64_t *value)
{
    if (s.len == 0)
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, (uint64_t)(s.ptr[i] - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool str_to_int64(struct str s, int64_t *value)
{
    bool negative = s.len && s.ptr[0] == '-';
    uint64_t magnitude;
    if (!str_to_uint64(negative ? str_from_offset(s, 1) : s, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* The bytes that may follow a first byte, by Unicode table 3-7: no overlong
 * forms, no surrogates, nothing above U+10FFFF. */
size_t str_utf8_length(struct str s)
{
    if (s.len == 0)
        return 0;
    const unsigned char *at = (const unsigned char *)s.ptr;
    unsigned char first = at[0];
    if (first < 0x80)
        return 1;
    if (first < 0xC2 || first > 0xF4)
        return 0;
    size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (s.len < length)
        return 0;
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (at[1] < low || at[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (at[i] < 0x80 || at[i] > 0xBF)
            return 0;
    return length;
}

/* Nearly all text is ASCII: eight bytes at a time, and 32 of a long one. */
static struct str skip_ascii(struct str s)
{
    const uint64_t high_bits = UINT64_C(0x8080808080808080);
    size_t at = 0;
    for (uint64_t words[4]; s.len - at >= sizeof(words); at += sizeof(words)) {
        memcpy(words, s.ptr + at, sizeof(words));
        if ((words[0] | words[1] | words[2] | words[3]) & high_bits)
            break;
    }
    for (uint64_t word; s.len - at >= sizeof(word); at += sizeof(word)) {
        memcpy(&word, s.ptr + at, sizeof(word));
        if (word & high_bits)
            break;
    }
    while (at < s.len && (unsigned char)s.ptr[at] < 0x80)
        at++;
    return str_from_offset(s, at);
}

bool str_is_utf8(struct str s)
{
    while ((s = skip_ascii(s)).len) {
        size_t length = str_utf8_length(s);
        if (length == 0)
            return false;
        s = str_from_offset(s, length);
    }
    return true;
}

/* All bytes are looked at, whatever the first ones were: the compiler must not see that the outcome may be known early.
 * Eight at a time, since access tokens are long and compared with every request. */
bool str_eq_secret(struct str a, struct str b)
{
    uint64_t difference = 0, left, right;
    size_t at = 0;
    if (a.len != b.len)
        return false;
    for (; a.len - at >= sizeof(left); at += sizeof(left)) {
        memcpy(&left, a.ptr + at, sizeof(left));
        memcpy(&right, b.ptr + at, sizeof(right));
        difference |= left ^ right;
        __asm__ volatile("" : "+r"(difference));
    }
    for (; at < a.len; at++) {
        difference |= (unsigned char)(a.ptr[at] ^ b.ptr[at]);
        __asm__ volatile("" : "+r"(difference));
    }
    return difference == 0;
}

/* Every bit of a and b reaches the low ones, which a table whose size is a power of two looks at. */
static uint64_t multiply_and_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time. The same on every server: they tell each other owners by it. */
uint64_t str_hash(struct str s)
{
    uint64_t hash = 0xcbf29ce484222325u ^ s.len, word;
    for (; s.len >= sizeof(word); s = str_from_offset(s, sizeof(word))) {
        memcpy(&word, s.ptr, sizeof(word));
        hash = multiply_and_fold(hash ^ word, 0x9e3779b97f4a7c15u);
    }
    word = 0;
    if (s.len)
        memcpy(&word, s.ptr, s.len);
    return multiply_and_fold(hash ^ word, 0xd6e8feb86659fd93u);
}
