#include "base/uuid.h"

#include "base/clock.h"
#include "base/random.h"

struct uuid uuid_new(void)
{
    uint64_t ms = (uint64_t)clock_wall_ms();
    uint64_t noise[2] = {random_fast(), random_fast()};

    struct uuid id;
    memcpy(id.bytes, noise, sizeof(id.bytes));
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(ms >> (40 - 8 * i));
    id.bytes[6] = (uint8_t)(0x70 | (id.bytes[6] & 0x0f));
    id.bytes[8] = (uint8_t)(0x80 | (id.bytes[8] & 0x3f));
    return id;
}

static bool has_dash_before(int byte)
{
    return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

void uuid_format(struct uuid id, char out[UUID_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        if (has_dash_before(i))
            *out++ = '-';
        *out++ = hex[id.bytes[i] >> 4];
        *out++ = hex[id.bytes[i] & 15];
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool uuid_parse(struct str s, struct uuid *id)
{
    if (s.len != UUID_TEXT)
        return false;
    const char *at = s.ptr;
    for (int i = 0; i < 16; i++) {
        if (has_dash_before(i) && *at++ != '-')
            return false;
        int high = hex_value(*at++);
        int low = hex_value(*at++);
        if (high < 0 || low < 0)
            return false;
        id->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
