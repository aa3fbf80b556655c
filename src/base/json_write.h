/*
 * Writes JSON into a buffer, piece by piece; commas come by themselves:
 *
 *     struct json_writer w = json_write_to(&out);
 *     json_begin_object(&w);
 *     json_member_bool(&w, "success", true);
 *     json_member_object(&w, "seat");
 *     json_member_int(&w, "id", 5);
 *     json_end_object(&w);
 *     json_end_object(&w);
 *
 * Whoever writes keeps the order right (a key before each value in an object,
 * an end for each begin). Text is passed on as UTF-8; what is not UTF-8 becomes
 * U+FFFD, so the result is always valid. Whether all of it found room is asked
 * once at the end: out.failed. The writer owns nothing.
 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/buf.h"

struct json_writer {
    struct buf *out;
    bool comma; /* one is due before the next key or value */
};

static inline struct json_writer json_write_to(struct buf *out)
{
    return (struct json_writer){.out = out};
}

void json_begin_object(struct json_writer *w);
void json_end_object(struct json_writer *w);
void json_begin_array(struct json_writer *w);
void json_end_array(struct json_writer *w);

/* A key that comes from data; keys named in the code use json_key below. */
void json_key_str(struct json_writer *w, struct str name);
void json_string(struct json_writer *w, struct str value);
void json_int(struct json_writer *w, int64_t value);
void json_uint(struct json_writer *w, uint64_t value);
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);

/* A value that is JSON already. */
void json_raw(struct json_writer *w, struct str json);

/* A key named in the code: plain ASCII, copied as it stands. Inline, so that the
 * compiler knows the length of a literal. */
static inline void json_key(struct json_writer *w, const char *name)
{
    size_t len = strlen(name);
    char *room = buf_reserve(w->out, len + 4);
    if (!room)
        return;
    char *at = room;
    if (w->comma)
        *at++ = ',';
    *at++ = '"';
    memcpy(at, name, len);
    at += len;
    *at++ = '"';
    *at++ = ':';
    w->out->len += (size_t)(at - room);
    w->comma = false;
}

static inline void json_member_string(struct json_writer *w, const char *name, struct str value)
{
    json_key(w, name);
    json_string(w, value);
}

/* null when value.ptr is NULL, which is how an absent text looks. */
static inline void json_member_string_or_null(struct json_writer *w, const char *name, struct str value)
{
    json_key(w, name);
    if (value.ptr)
        json_string(w, value);
    else
        json_null(w);
}

static inline void json_member_int(struct json_writer *w, const char *name, int64_t value)
{
    json_key(w, name);
    json_int(w, value);
}

static inline void json_member_uint(struct json_writer *w, const char *name, uint64_t value)
{
    json_key(w, name);
    json_uint(w, value);
}

static inline void json_member_bool(struct json_writer *w, const char *name, bool value)
{
    json_key(w, name);
    json_bool(w, value);
}

static inline void json_member_null(struct json_writer *w, const char *name)
{
    json_key(w, name);
    json_null(w);
}

static inline void json_member_raw(struct json_writer *w, const char *name, struct str json)
{
    json_key(w, name);
    json_raw(w, json);
}

/* Begin the object or array that is the member's value. */
static inline void json_member_object(struct json_writer *w, const char *name)
{
    json_key(w, name);
    json_begin_object(w);
}

static inline void json_member_array(struct json_writer *w, const char *name)
{
    json_key(w, name);
    json_begin_array(w);
}

#endif
