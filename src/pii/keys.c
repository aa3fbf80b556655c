#include "pii/keys.h"

#include "base/base64.h"
#include "base/config.h"

enum { KEY_TEXT = (KEY_BYTES + 2) / 3 * 4, KEY_ID_MAX = 999999999 };

bool key_id_read(struct str digits, uint32_t *id)
{
    uint64_t value;
    if (digits.len == 0 || digits.ptr[0] == '0' || !str_to_uint64(digits, &value) || value > KEY_ID_MAX)
        return false;
    *id = (uint32_t)value;
    return true;
}

static bool read_bytes(struct str text, uint8_t out[KEY_BYTES])
{
    uint8_t bytes[KEY_BYTES + 3];
    size_t size = 0;
    bool good = text.len == KEY_TEXT && base64_read(BASE64_STANDARD, text, bytes, &size) && size == KEY_BYTES;
    if (good)
        memcpy(out, bytes, KEY_BYTES);
    explicit_bzero(bytes, sizeof(bytes));
    return good;
}

static struct key *find_twin(struct keys *keys, const struct key *key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->sealing[i].id == key->id || memcmp(keys->sealing[i].bytes, key->bytes, KEY_BYTES) == 0)
            return &keys->sealing[i];
    return NULL;
}

/* "2:base64", the place-th of its list. */
static void read_key(struct str text, size_t place, struct keys *keys, struct buf *problems)
{
    struct key key = {0};
    ptrdiff_t colon = str_find_char(text, ':');
    if (colon < 0 || !key_id_read(str_first(text, (size_t)colon), &key.id))
        config_problem(problems, "PII_KEYS: key %zu must begin with its number and a colon, as in 1:base64.", place);
    else if (!read_bytes(str_from_offset(text, (size_t)colon + 1), key.bytes))
        config_problem(problems,
                       "PII_KEYS: key %zu (number %u) must be 32 bytes in base64, as `openssl rand -base64 32` "
                       "makes them.",
                       place, key.id);
    else if (keys->count == KEYS_MAX)
        config_problem(problems, "PII_KEYS has more than %d keys.", KEYS_MAX);
    else if (find_twin(keys, &key))
        config_problem(problems, "PII_KEYS: key %zu has the number or the bytes of another.", place);
    else
        keys->sealing[keys->count++] = key;
    explicit_bzero(&key, sizeof(key));
}

static bool is_sealing_key(const struct keys *keys, const uint8_t bytes[KEY_BYTES])
{
    for (size_t i = 0; i < keys->count; i++)
        if (memcmp(keys->sealing[i].bytes, bytes, KEY_BYTES) == 0)
            return true;
    return false;
}

bool keys_read(struct str sealing, struct str hash, struct keys *keys, struct buf *problems)
{
    size_t before = problems->len, place = 0;
    struct str text;
    *keys = (struct keys){0};
    if (sealing.len == 0)
        sealing = (struct str){0}; /* not set: no key, rather than an empty one */
    while (str_split(&sealing, ',', &text))
        read_key(str_trim(text), ++place, keys, problems);
    if (hash.len == 0)
        return problems->len == before && !problems->failed;
    keys->has_hash = read_bytes(str_trim(hash), keys->hash);
    if (!keys->has_hash)
        config_problem(problems, "PII_HASH_KEY must be 32 bytes in base64, as `openssl rand -base64 32` makes them.");
    else if (is_sealing_key(keys, keys->hash))
        config_problem(problems, "PII_HASH_KEY must be another key than those of PII_KEYS.");
    return problems->len == before && !problems->failed;
}

void keys_wipe(struct keys *keys)
{
    explicit_bzero(keys, sizeof(*keys));
}
