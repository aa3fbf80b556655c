/*
 * The grammar of JSON (RFC 8259) for json_read: strings, numbers, words, and
 * stepping over whole values. Strict: what is not certainly JSON is refused, and
 * so are things that are JSON but mean trouble (NUL, lone surrogates, numbers
 * that no int64_t or double holds).
 *
 * Every function returns false after it has set scan->problem to what is wrong;
 * scan->at then points to where.
 */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/arena.h"

struct json_scan {
    const char *start;
    const char *at;
    const char *end;
    const char *problem; /* a literal: what is expected or wrong at `at` */
    struct arena *arena; /* for strings that had to be unescaped */
};

/* What the value at scan->at looks like by its first character. */
enum json_kind {
    JSON_IS_STRING,
    JSON_IS_NUMBER,
    JSON_IS_TRUE,
    JSON_IS_FALSE,
    JSON_IS_NULL,
    JSON_IS_OBJECT,
    JSON_IS_ARRAY,
    JSON_IS_NOTHING
};

enum json_kind json_scan_kind(const struct json_scan *scan);

void json_scan_space(struct json_scan *scan);

/* Steps over `c` if it comes next, with the space before it. */
bool json_scan_take(struct json_scan *scan, char c);

/* At the opening quote. The text points into the body, or into the arena when it
 * had escapes. */
bool json_scan_string(struct json_scan *scan, struct str *text);

/* The same without keeping the text. */
bool json_scan_skip_string(struct json_scan *scan);

/* true, false or null. */
bool json_scan_word(struct json_scan *scan, struct str word);

/* *whole tells whether the number is written as an integer; then *value is it. */
bool json_scan_number(struct json_scan *scan, bool *whole, int64_t *value);

#endif
