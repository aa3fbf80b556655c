/*
 * Strings as pointer and length. A str never owns its bytes: they belong to a
 * literal, an arena or a buffer, named by whoever hands the str out. The bytes
 * need not end in NUL.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *ptr;
    size_t len;
};

/* For expressions and for initialisers of static data. */
#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
#define STR_INIT(literal)                                                                                              \
    {                                                                                                                  \
        (literal), sizeof(literal) - 1                                                                                 \
    }

/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).len, (s).ptr

static inline struct str str_make(const char *ptr, size_t len)
{
    return (struct str){ptr, len};
}

static inline struct str str_from(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

/* Copies the text to `at`, where there is room for it, and returns where the next one goes. */
static inline char *str_put(char *at, struct str s)
{
    return s.len ? (char *)memcpy(at, s.ptr, s.len) + s.len : at;
}

/* From `from` to the end; empty when `from` lies past it. */
static inline struct str str_from_offset(struct str s, size_t from)
{
    if (s.len == 0)
        return s; /* C does not even allow adding 0 to NULL */
    return from >= s.len ? (struct str){s.ptr + s.len, 0} : (struct str){s.ptr + from, s.len - from};
}

static inline struct str str_first(struct str s, size_t len)
{
    return (struct str){s.ptr, len < s.len ? len : s.len};
}

/* ASCII case is ignored: header names, encodings, boolean words. */
bool str_same_letters(const char *a, const char *b, size_t len);
static inline bool str_ieq(struct str a, struct str b)
{
    return a.len == b.len && str_same_letters(a.ptr, b.ptr, a.len);
}

int str_compare(struct str a, struct str b);

/* The place of `c`, or -1. */
ptrdiff_t str_find_char(struct str s, char c);
bool str_contains(struct str s, struct str part);

/* Without the blanks and tabs around it. */
struct str str_trim(struct str s);

/* Takes the part before `separator` off the front of *rest and returns it; the
 * whole of *rest when there is no separator. False when *rest is used up:
 *     struct str rest = list, item;
 *     while (str_split(&rest, ',', &item)) … */
bool str_split(struct str *rest, char separator, struct str *item);

/* Digits only (a leading '-' for the signed one), the whole string, in range. */
bool str_to_int64(struct str s, int64_t *value);
bool str_to_uint64(struct str s, uint64_t *value);

bool str_is_utf8(struct str s);

/* Bytes of the UTF-8 character that s starts with; 0 when it is none or s is empty. */
size_t str_utf8_length(struct str s);

/* Takes the same time for every pair of strings of the same length: for secrets. */
bool str_eq_secret(struct str a, struct str b);

uint64_t str_hash(struct str s);

#endif
