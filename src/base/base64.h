/*
 * Bytes as base64 text and back. Reading is strict: only the one text that writing would have made is accepted, so two
 * different texts never mean the same bytes.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/str.h"

enum base64_kind {
    BASE64_STANDARD, /* '+' and '/', padded with '=': keys in settings and files */
    BASE64_URL,      /* '-' and '_', not padded: tokens, sealed values */
};

/* Characters for so many bytes. */
size_t base64_length(enum base64_kind kind, size_t bytes);

/* `out` has room for base64_length; no NUL is added. */
void base64_write(enum base64_kind kind, const void *bytes, size_t size, char *out);

/* The most bytes that so many characters can mean. */
static inline size_t base64_room(size_t characters)
{
    return characters / 4 * 3 + characters % 4;
}

/* `out` has room for base64_room; tells how many bytes there are. */
__attribute__((warn_unused_result)) bool base64_read(enum base64_kind kind, struct str text, void *out, size_t *size);

#endif
