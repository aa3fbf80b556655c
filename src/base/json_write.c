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

/* Writes what stands for the special character at the start of `text` and returns
 * how many bytes of text it stands for. */
static size_t add_special(struct buf *out, struct str text)
{
    unsigned char c = (unsigned char)text.ptr[0];
    if (c >= 0x80) {
        size_t length = str_utf8_length(text);
        buf_add(out, length ? str_first(text, length) : STR("\xEF\xBF\xBD"));
        return length ? length : 1;
    }
    char letter = short_escape(c);
    if (letter)
        buf_add(out, (struct str){(const char[]){'\\', letter}, 2});
    else
        buf_add(out,
                (struct str){(const char[]){'\\', 'u', '0', '0', c < 0x10 ? '0' : '1', "0123456789abcdef"[c % 16]}, 6});
    return 1;
}

static void add_escaped(struct buf *out, struct str text)
{
    while (text.len) {
        size_t plain = json_plain_length(text.ptr, text.len);
        buf_add(out, str_first(text, plain));
        text = str_from_offset(text, plain);
        if (text.len)
            text = str_from_offset(text, add_special(out, text));
    }
}

/* Nearly all text is plain and goes the short way: one reservation, one copy. */
static void add_quoted(struct json_writer *w, struct str text)
{
    char *room = reserve_value(w, text.len + 2);
    if (!room)
        return;
    size_t plain = json_plain_length(text.ptr, text.len);
    *room++ = '"';
    if (plain)
        memcpy(room, text.ptr, plain);
    if (plain == text.len) {
        room[plain] = '"';
        w->out->len += plain + 2;
        return;
    }
    w->out->len += plain + 1;
    add_escaped(w->out, str_from_offset(text, plain));
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
