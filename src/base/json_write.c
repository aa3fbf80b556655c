#include "base/json_write.h"

#include "base/json_text.h"

/* Room for one piece, with the comma before it written when one is due. */
static char *reserve_value(struct json_writer *w, size_t size)
{
    char *room = buf_reserve(w->out, size + 1);
    if (!room)
        return NULL;
    if (w->comma) {
        *room++ = ',';
        w->out->len++;
    }
    w->comma = true;
    return room;
}

static void add_value(struct json_writer *w, const char *text, size_t len)
{
    char *room = reserve_value(w, len);
    if (!room)
        return;
    memcpy(room, text, len);
    w->out->len += len;
}

void json_begin_object(struct json_writer *w)
{
    add_value(w, "{", 1);
    w->comma = false;
}

void json_begin_array(struct json_writer *w)
{
    add_value(w, "[", 1);
    w->comma = false;
}

static void end(struct json_writer *w, char bracket)
{
    buf_add_char(w->out, bracket);
    w->comma = true;
}

void json_end_object(struct json_writer *w)
{
    end(w, '}');
}

void json_end_array(struct json_writer *w)
{
    end(w, ']');
}

/* The character that makes the short escape, or 0 when there is none. */
static char short_escape(unsigned char c)
{
    switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
    }
}

/* How much of the text is copied as it stands: up to the first byte that needs an escape or is no UTF-8. */
static size_t copied_length(struct str text)
{
    size_t length = 0, step = 1;
    for (; step && length < text.len; length += step) {
        struct str rest = str_from_offset(text, length);
        bool ascii = (unsigned char)rest.ptr[0] < 0x80;
        step = ascii ? json_plain_length(rest.ptr, rest.len) : str_utf8_length(rest);
    }
    return length;
}

/* Writes what stands for a byte that is not copied. */
static void add_special(struct buf *out, unsigned char c)
{
    char letter = short_escape(c);
    if (c >= 0x80)
        buf_add(out, STR("\xEF\xBF\xBD"));
    else if (letter)
        buf_add(out, (struct str){(const char[]){'\\', letter}, 2});
    else
        buf_add(out,
                (struct str){(const char[]){'\\', 'u', '0', '0', c < 0x10 ? '0' : '1', "0123456789abcdef"[c % 16]}, 6});
}

static void add_escaped(struct buf *out, struct str text)
{
    while (text.len) {
        add_special(out, (unsigned char)text.ptr[0]);
        text = str_from_offset(text, 1);
        size_t copied = copied_length(text);
        buf_add(out, str_first(text, copied));
        text = str_from_offset(text, copied);
    }
}

/* Nearly all text is copied as it stands and goes the short way: one reservation, one copy. */
static void add_quoted(struct json_writer *w, struct str text)
{
    char *room = reserve_value(w, text.len + 2);
    if (!room)
        return;
    size_t copied = copied_length(text);
    *room++ = '"';
    if (copied)
        memcpy(room, text.ptr, copied);
    if (copied == text.len) {
        room[copied] = '"';
        w->out->len += copied + 2;
        return;
    }
    w->out->len += copied + 1;
    add_escaped(w->out, str_from_offset(text, copied));
    buf_add_char(w->out, '"');
}

void json_key_str(struct json_writer *w, struct str name)
{
    add_quoted(w, name);
    buf_add_char(w->out, ':');
    w->comma = false;
}

void json_string(struct json_writer *w, struct str value)
{
    add_quoted(w, value);
}

void json_uint(struct json_writer *w, uint64_t value)
{
    char *room = reserve_value(w, FORMAT_INT_MAX);
    if (room)
        w->out->len += format_uint(room, value);
}

void json_int(struct json_writer *w, int64_t value)
{
    char *room = reserve_value(w, FORMAT_INT_MAX);
    if (room)
        w->out->len += format_int(room, value);
}

void json_bool(struct json_writer *w, bool value)
{
    if (value)
        add_value(w, "true", 4);
    else
        add_value(w, "false", 5);
}

void json_null(struct json_writer *w)
{
    add_value(w, "null", 4);
}

void json_raw(struct json_writer *w, struct str json)
{
    add_value(w, json.ptr, json.len);
}
