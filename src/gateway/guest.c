#include "gateway/guest.h"

#include "base/base64.h"
#include "base/random.h"
#include "gateway/mac.h"

#define PREFIX STR("guest:")
#define VERSION STR("1.")

enum { RANDOM_BYTES = 16, RANDOM_TEXT = 22, MAC_TEXT = 43, SIGNED_TEXT = 2 + RANDOM_TEXT };

bool guest_is_id(struct str user_id)
{
    return str_starts(user_id, PREFIX);
}

struct str guest_new(struct arena *arena)
{
    uint8_t bytes[RANDOM_BYTES];
    char text[RANDOM_TEXT];
    random_secret(bytes, sizeof(bytes));
    base64_write(BASE64_URL, bytes, sizeof(bytes), text);
    return ARENA_JOIN(arena, PREFIX, str_make(text, sizeof(text)));
}

static struct str signature_of(struct arena *arena, struct str key, struct str text)
{
    uint8_t mac[MAC_SIZE];
    char *out = arena_bytes(arena, MAC_TEXT);
    mac_compute(key, text, mac);
    base64_write(BASE64_URL, mac, sizeof(mac), out);
    return str_make(out, MAC_TEXT);
}

struct str guest_sign(struct arena *arena, struct str key, struct str id)
{
    struct str text = ARENA_JOIN(arena, VERSION, str_from_offset(id, PREFIX.len));
    return ARENA_JOIN(arena, text, STR("."), signature_of(arena, key, text));
}

struct str guest_read(struct arena *arena, struct str key, struct str cookie)
{
    const struct str none = {NULL, 0};
    if (key.len == 0 || cookie.len != SIGNED_TEXT + 1 + MAC_TEXT || !str_starts(cookie, VERSION) ||
        cookie.ptr[SIGNED_TEXT] != '.')
        return none;
    struct str text = str_first(cookie, SIGNED_TEXT);
    if (!str_eq_secret(signature_of(arena, key, text), str_from_offset(cookie, SIGNED_TEXT + 1)))
        return none;
    return ARENA_JOIN(arena, PREFIX, str_from_offset(text, VERSION.len));
}

struct str guest_of(struct request *rq, struct str key)
{
    return guest_read(&rq->arena, key, request_cookie(rq, STR("guest")));
}
