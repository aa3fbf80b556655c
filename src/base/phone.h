/* Phone numbers: E.164 ("+821012345678") or Korean domestic ("010-1234-5678"), kept as E.164. */
#ifndef BASE_PHONE_H
#define BASE_PHONE_H

#include "base/arena.h"

/* False when it is neither. Blanks, hyphens, dots and round brackets between the digits are ignored. */
bool phone_to_e164(struct arena *arena, struct str text, struct str *phone);

#endif
