/* HMAC-SHA256, for tokens. Any thread: each keeps the states that the last key has led to, so that the next text under
 * the same key costs no more than its own length. */
#ifndef GATEWAY_MAC_H
#define GATEWAY_MAC_H

#include "base/str.h"

#include <stdint.h>

enum { MAC_SIZE = 32 };

void mac_compute(struct str key, struct str text, uint8_t out[MAC_SIZE]);

#endif
