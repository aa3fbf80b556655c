#include "http/head.h"

#include <endian.h>

static enum head_outcome refuse(enum error *error, enum error why)
{
    *error = why;
    return HEAD_REFUSED;
}

/* The first control character in [from, to), or `to`: eight bytes at a time. A byte's high bit ends up set in
 * `hits` when the byte is below 0x20 or is 0x7f; a borrow can spoil only bytes above a true hit, so the lowest
 * one is exact. */
static size_t find_control(const char *bytes, size_t from, size_t to)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (; to - from >= sizeof(uint64_t); from += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes + from, sizeof(word));
        word = le64toh(word);
        uint64_t deleted = word ^ (ones * 0x7f);
        uint64_t hits = (((word - ones * 0x20) & ~word) | ((deleted - ones) & ~deleted)) & (ones * 0x80);
        if (hits)
            return from + (size_t)__builtin_ctzll(hits) / 8;
    }
    while (from < to && (unsigned char)bytes[from] >= 0x20 && bytes[from] != 0x7f)
        from++;
    return from;
}

/* Tabs are allowed between words. */
static size_t skip_text(const char *bytes, size_t from, size_t to)
{
    size_t at = find_control(bytes, from, to);
    while (at < to && bytes[at] == '\t')
        at = find_control(bytes, at + 1, to);
    return at;
}

/* Every refusal hangs on the first byte that is wrong or that lies past a limit, and bytes are looked at in
 * order: so the outcome is the same however they were split. */
enum head_outcome head_scan(struct head_scan *scan, struct str bytes, const struct head_limits *limits, size_t *length,
                            enum error *error)
{
    for (;;) {
        size_t stop = bytes.len < limits->headers ? bytes.len : limits->headers;
        size_t line_stop = scan->lines == 0 ? scan->line_start + limits->line + 1 : SIZE_MAX;
        size_t at = skip_text(bytes.ptr, scan->at, stop < line_stop ? stop : line_stop);
        scan->at = at;
        if (at == line_stop)
            return refuse(error, ERR_URI_TOO_LONG);
        if (at < stop && bytes.ptr[at] != '\r')
            return refuse(error, ERR_BAD_REQUEST);
        if (at + 1 >= stop)
            return stop == limits->headers ? refuse(error, ERR_HEADERS_TOO_LARGE) : HEAD_MORE;
        if (bytes.ptr[at + 1] != '\n')
            return refuse(error, ERR_BAD_REQUEST);

        bool empty = at == scan->line_start;
        if (empty && scan->lines > 0) {
            *length = at + 2;
            return HEAD_COMPLETE;
        }
        if (empty && scan->line_start > 0)
            return refuse(error, ERR_BAD_REQUEST);
        if (!empty)
            scan->lines++;
        scan->at = scan->line_start = at + 2;
    }
}
