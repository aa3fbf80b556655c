/* The keys as they stand in the settings. Owner: whoever reads them, who wipes them (keys_wipe). */
#ifndef PII_KEYS_H
#define PII_KEYS_H

#include "base/buf.h"

enum { KEY_BYTES = 32, KEYS_MAX = 16 };

struct key {
    uint32_t id; /* 1 … 999999999 */
    uint8_t bytes[KEY_BYTES];
};

struct keys {
    struct key sealing[KEYS_MAX]; /* the first seals, all open */
    size_t count;
    uint8_t hash[KEY_BYTES];
    bool has_hash;
};

/* Reads what is set (an empty text is not set); adds a line per mistake, which never shows a key. */
__attribute__((warn_unused_result)) bool keys_read(struct str sealing, struct str hash, struct keys *keys,
                                                   struct buf *problems);
void keys_wipe(struct keys *keys);

/* The digits of a key's number, without a leading 0. */
bool key_id_read(struct str digits, uint32_t *id);

#endif
