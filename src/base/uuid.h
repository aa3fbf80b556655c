/* UUID version 7: 48 bits of wall time in milliseconds, then random bits, so that
 * ids made later sort later and sit close together in an index. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/str.h"

enum { UUID_TEXT = 36 };

struct uuid {
    uint8_t bytes[16];
};

struct uuid uuid_new(void);

/* Lower case, 36 characters, no NUL. */
void uuid_format(struct uuid id, char out[UUID_TEXT]);

/* Any version, either case. */
bool uuid_parse(struct str s, struct uuid *id);

#endif
