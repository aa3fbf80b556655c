#include "http/chunk.h"

#include "http/chars.h"

enum { SIZE_DIGITS_MAX = 16, OVERHEAD_MAX = 4096 };

/* What the next byte must belong to. */
enum {
    IN_SIZE,
    IN_EXTENSION,
    AT_SIZE_LF,
    IN_DATA,
    AT_DATA_CR,
    AT_DATA_LF,
    AT_TRAILER, /* its first byte, or the empty line that ends the body */
    IN_TRAILER_NAME,
    IN_TRAILER_VALUE,
    AT_TRAILER_LF,
    AT_LAST_LF,
};

enum step { STEP_ON, STEP_COMPLETE, STEP_REFUSED };

static enum step refuse(enum error *error, enum error why)
{
    *error = why;
    return STEP_REFUSED;
}

static enum step go(struct chunk_reader *reader, bool expected, int state, enum error *error)
{
    reader->state = state;
    return expected ? STEP_ON : refuse(error, ERR_BAD_REQUEST);
}

static bool is_text(char c)
{
    return ((unsigned char)c >= 0x20 && c != 0x7f) || c == '\t';
}

static enum step add_overhead(struct chunk_reader *reader, bool expected, int state, enum error *error)
{
    if (++reader->overhead > OVERHEAD_MAX)
        return refuse(error, ERR_HEADERS_TOO_LARGE);
    return go(reader, expected, state, error);
}

static enum step read_size(struct chunk_reader *reader, char c, enum error *error)
{
    if (http_char_is(c, CHAR_HEX)) {
        reader->left = reader->left << 4 | http_hex_value(c);
        return go(reader, ++reader->digits <= SIZE_DIGITS_MAX, IN_SIZE, error);
    }
    bool extension = c == ';';
    return go(reader, reader->digits > 0 && (extension || c == '\r'), extension ? IN_EXTENSION : AT_SIZE_LF, error);
}

/* The limit counts as soon as a chunk is announced: its bytes need not come for us to refuse it. */
static enum step begin_chunk(struct chunk_reader *reader, char c, const struct buf *body, enum error *error)
{
    if (c == '\n' && reader->left > body->max - body->len)
        return refuse(error, ERR_BODY_TOO_LARGE);
    reader->digits = 0;
    return go(reader, c == '\n', reader->left ? IN_DATA : AT_TRAILER, error);
}

static enum step read_byte(struct chunk_reader *reader, char c, const struct buf *body, enum error *error)
{
    switch (reader->state) {
    case IN_SIZE: return read_size(reader, c, error);
    case IN_EXTENSION:
        if (c == '\r')
            return go(reader, true, AT_SIZE_LF, error);
        return add_overhead(reader, is_text(c), IN_EXTENSION, error);
    case AT_SIZE_LF: return begin_chunk(reader, c, body, error);
    case AT_DATA_CR: return go(reader, c == '\r', AT_DATA_LF, error);
    case AT_DATA_LF: return go(reader, c == '\n', IN_SIZE, error);
    case AT_TRAILER:
        if (c == '\r')
            return go(reader, true, AT_LAST_LF, error);
        return add_overhead(reader, http_char_is(c, CHAR_TOKEN), IN_TRAILER_NAME, error);
    case IN_TRAILER_NAME:
        if (c == ':')
            return add_overhead(reader, true, IN_TRAILER_VALUE, error);
        return add_overhead(reader, http_char_is(c, CHAR_TOKEN), IN_TRAILER_NAME, error);
    case IN_TRAILER_VALUE:
        if (c == '\r')
            return go(reader, true, AT_TRAILER_LF, error);
        return add_overhead(reader, is_text(c), IN_TRAILER_VALUE, error);
    case AT_TRAILER_LF: return go(reader, c == '\n', AT_TRAILER, error);
    default: return c == '\n' ? STEP_COMPLETE : refuse(error, ERR_BAD_REQUEST); /* AT_LAST_LF */
    }
}

static size_t take_data(struct chunk_reader *reader, struct str input, struct buf *body)
{
    struct str data = str_first(input, reader->left < input.len ? (size_t)reader->left : input.len);
    if (!buf_add(body, data))
        return 0;
    reader->left -= data.len;
    if (reader->left == 0)
        reader->state = AT_DATA_CR;
    return data.len;
}

enum chunk_outcome chunk_read(struct chunk_reader *reader, struct str input, struct buf *body, size_t *taken,
                              enum error *error)
{
    size_t at = 0;
    enum step step = STEP_ON;
    while (step == STEP_ON && at < input.len) {
        if (reader->state != IN_DATA) {
            step = read_byte(reader, input.ptr[at++], body, error);
            continue;
        }
        size_t data = take_data(reader, str_from_offset(input, at), body);
        if (data == 0)
            step = refuse(error, ERR_OVERLOADED); /* it would fit: only memory can be missing */
        at += data;
    }
    *taken = at;
    switch (step) {
    case STEP_COMPLETE: return CHUNK_COMPLETE;
    case STEP_REFUSED: return CHUNK_REFUSED;
    default: return CHUNK_MORE;
    }
}
