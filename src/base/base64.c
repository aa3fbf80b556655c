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

/* 0 … 63, or -1. */
static int value_of(enum base64_kind kind, char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == alphabets[kind][62])
        return 62;
    return c == alphabets[kind][63] ? 63 : -1;
}

static bool drop_padding(struct str *text)
{
    if (text->len % 4)
        return false;
    for (int i = 0; i < 2 && text->len && text->ptr[text->len - 1] == '='; i++)
        text->len--;
    return true;
}

bool base64_read(enum base64_kind kind, struct str text, void *out, size_t *size)
{
    uint8_t *at = out;
    uint32_t bits = 0;
    int count = 0; /* of bits that are not written yet */
    if ((kind == BASE64_STANDARD && !drop_padding(&text)) || text.len % 4 == 1)
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
