/* What reading and writing JSON text share. */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/str.h"

#define JSON_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The high bit of every byte that is zero; bytes above a zero byte may be wrong,
 * which is no harm to who looks for the lowest one. */
static inline uint64_t json_zero_bytes(uint64_t word)
{
    return (word - JSON_EACH_BYTE(0x01)) & ~word & JSON_EACH_BYTE(0x80);
}

/* How many bytes from `at` on stand for themselves inside a JSON string: ASCII
 * that is no control character, quote or backslash. Looks at eight at a time. */
static inline size_t json_plain_length(const char *at, size_t left)
{
    size_t length = 0;
    for (; left - length >= sizeof(uint64_t); length += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + length, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        uint64_t special = (word & JSON_EACH_BYTE(0x80)) | json_zero_bytes(word & JSON_EACH_BYTE(0xE0)) |
                           json_zero_bytes(word ^ JSON_EACH_BYTE('"')) | json_zero_bytes(word ^ JSON_EACH_BYTE('\\'));
        if (special)
            return length + (size_t)__builtin_ctzll(special) / 8;
    }
    for (; length < left; length++) {
        unsigned char c = (unsigned char)at[length];
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
            break;
    }
    return length;
}

#endif
