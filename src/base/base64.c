#include "base/base64.h"

static const char alphabets[][65] = {
    [BASE64_STANDARD] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    [BASE64_URL] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

size_t base64_length(enum base64_kind kind, size_t bytes)
{
    return kind == BASE64_STANDARD ? (bytes + 2) / 3 * 4 : bytes / 3 * 4 + (bytes % 3 ? bytes % 3 + 1 : 0);
}

void base64_write(enum base64_kind kind, const void *bytes, size_t size, char *out)
{
    const uint8_t *in = bytes;
    const char *letters = alphabets[kind];
    for (; size >= 3; size -= 3, in += 3) {
        uint32_t group = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        *out++ = letters[group >> 18];
        *out++ = letters[group >> 12 & 63];
        *out++ = letters[group >> 6 & 63];
        *out++ = letters[group & 63];
    }
    if (size == 0)
        return;
    uint32_t group = (uint32_t)in[0] << 16 | (size == 2 ? (uint32_t)in[1] << 8 : 0);
    *out++ = letters[group >> 18];
    *out++ = letters[group >> 12 & 63];
    if (size == 2)
        *out++ = letters[group >> 6 & 63];
    if (kind == BASE64_STANDARD)
        memset(out, '=', 3 - size);
}

/* What letters stand for, plus one; 0 for what is none. A name in brackets is where the next ones stand. */
#define UPPER ['A'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26
#define LOWER                                                                                                          \
    ['a'] = 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52
#define DIGITS ['0'] = 53, 54, 55, 56, 57, 58, 59, 60, 61, 62
static const uint8_t values[][256] = {
    [BASE64_STANDARD] = {UPPER, LOWER, DIGITS, ['+'] = 63, ['/'] = 64},
    [BASE64_URL] = {UPPER, LOWER, DIGITS, ['-'] = 63, ['_'] = 64},
};

/* 0 … 63, or -1. */
static int value_of(enum base64_kind kind, char c)
{
    return values[kind][(unsigned char)c] - 1;
}

static bool drop_padding(struct str *text)
{
    if (text->len % 4)
        return false;
    for (int i = 0; i < 2 && text->len && text->ptr[text->len - 1] == '='; i++)
        text->len--;
    return true;
}

/* Four letters are three bytes. False when one is no letter. */
static bool read_group(enum base64_kind kind, const char *letters, uint8_t out[3])
{
    int a = value_of(kind, letters[0]), b = value_of(kind, letters[1]);
    int c = value_of(kind, letters[2]), d = value_of(kind, letters[3]);
    uint32_t group = (uint32_t)a << 18 | (uint32_t)b << 12 | (uint32_t)c << 6 | (uint32_t)d;
    out[0] = (uint8_t)(group >> 16);
    out[1] = (uint8_t)(group >> 8);
    out[2] = (uint8_t)group;
    return (a | b | c | d) >= 0;
}

bool base64_read(enum base64_kind kind, struct str text, void *out, size_t *size)
{
    uint8_t *at = out;
    uint32_t bits = 0;
    int count = 0; /* of bits that are not written yet */
    if ((kind == BASE64_STANDARD && !drop_padding(&text)) || text.len % 4 == 1)
        return false;
    for (; text.len >= 4; text = str_from_offset(text, 4), at += 3)
        if (!read_group(kind, text.ptr, at))
            return false;
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(kind, text.ptr[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        count += 6;
        if (count >= 8) {
            count -= 8;
            *at++ = (uint8_t)(bits >> count);
        }
    }
    *size = (size_t)(at - (uint8_t *)out);
    return (bits & ((1u << count) - 1)) == 0; /* left-over bits are 0 in the one right text */
}
