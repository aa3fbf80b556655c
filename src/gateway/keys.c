#include "gateway/keys.h"

#include "base/log.h"
#include "base/secret_file.h"

/* What is not set is made by a server that is alone with its data. Empty when there is none; false when it cannot be
 * read. */
static bool read_key(const struct settings *settings, struct str set, const char *file, struct arena *arena,
                     struct str *key)
{
    uint8_t secret[SECRET_BYTES];
    *key = set;
    if (set.len || settings->database_url.len)
        return true;
    if (!secret_file_read(settings->data_dir.ptr, file, secret))
        return false;
    *key = arena_copy(arena, str_make((const char *)secret, sizeof(secret)));
    explicit_bzero(secret, sizeof(secret));
    return true;
}

struct token_keys *token_keys_read(const struct settings *settings, struct str guest, struct arena *arena)
{
    struct token_keys *keys = ARENA_NEW(arena, struct token_keys);
    keys->issuer = settings->jwt_issuer;
    keys->audience = settings->jwt_audience;
    keys->guest = guest;
    if (!read_key(settings, settings->jwt_secret, "jwt.key", arena, &keys->access) ||
        !read_key(settings, settings->queue_entry_key, "queue-entry.key", arena, &keys->entry))
        return NULL;
    if (keys->access.len == 0)
        log_warn("nobody can sign in: servers that share PostgreSQL need the same JWT_SECRET");
    return keys;
}
