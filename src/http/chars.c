#include "http/chars.h"

enum {
    IN_URL = CHAR_PATH | CHAR_QUERY,
    NAME = CHAR_TOKEN | IN_URL | CHAR_HOST | CHAR_UNRESERVED,
    NAME_HEX = NAME | CHAR_HEX,
};

const uint8_t http_chars[256] = {
    ['0' ... '9'] = NAME_HEX,
    ['A' ... 'F'] = NAME_HEX,
    ['a' ... 'f'] = NAME_HEX,
    ['G' ... 'Z'] = NAME,
    ['g' ... 'z'] = NAME,
    ['-'] = NAME,
    ['.'] = NAME,
    ['_'] = NAME,
    ['~'] = CHAR_TOKEN | IN_URL | CHAR_UNRESERVED,

    ['!'] = CHAR_TOKEN | IN_URL,
    ['$'] = CHAR_TOKEN | IN_URL,
    ['&'] = CHAR_TOKEN | IN_URL,
    ['\''] = CHAR_TOKEN | IN_URL,
    ['*'] = CHAR_TOKEN | IN_URL,
    ['+'] = CHAR_TOKEN | IN_URL,

    ['('] = IN_URL,
    [')'] = IN_URL,
    [','] = IN_URL,
    [';'] = IN_URL,
    ['='] = IN_URL,
    [':'] = IN_URL,
    ['@'] = IN_URL,
    ['/'] = IN_URL,

    ['?'] = CHAR_QUERY,
    ['['] = CHAR_QUERY,
    [']'] = CHAR_QUERY,
    ['{'] = CHAR_QUERY,
    ['}'] = CHAR_QUERY,
    ['^'] = CHAR_TOKEN | CHAR_QUERY,
    ['`'] = CHAR_TOKEN | CHAR_QUERY,
    ['|'] = CHAR_TOKEN | CHAR_QUERY,

    ['#'] = CHAR_TOKEN,
    ['%'] = CHAR_TOKEN,
};
