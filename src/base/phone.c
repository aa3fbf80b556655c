#include "base/phone.h"

enum { E164_LEAST = 8, E164_MOST = 15, DOMESTIC_LEAST = 9, DOMESTIC_MOST = 11 };

/* Digits of `text` into out; -1 when something else than digits and separators is in it. */
static ptrdiff_t copy_digits(struct str text, char *out, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c >= '0' && c <= '9') {
            if (count == room)
                return -1;
            out[count++] = c;
        } else if (c != ' ' && c != '-' && c != '.' && c != '(' && c != ')') {
            return -1;
        }
    }
    return (ptrdiff_t)count;
}

bool phone_to_e164(struct arena *arena, struct str text, struct str *phone)
{
    text = str_trim(text);
    bool international = text.len && text.ptr[0] == '+';
    char digits[E164_MOST];
    ptrdiff_t count = copy_digits(international ? str_from_offset(text, 1) : text, digits, sizeof(digits));
    if (international && count >= E164_LEAST && digits[0] != '0') {
        *phone = ARENA_JOIN(arena, STR("+"), str_make(digits, (size_t)count));
        return true;
    }
    if (!international && count >= DOMESTIC_LEAST && count <= DOMESTIC_MOST && digits[0] == '0' && digits[1] != '0') {
        *phone = ARENA_JOIN(arena, STR("+82"), str_make(digits + 1, (size_t)count - 1));
        return true;
    }
    return false;
}
