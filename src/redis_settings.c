#include "redis_settings.h"

#include "http/url.h"
#include "installation.h"

static const char *c_string_or_null(struct arena *arena, struct str text)
{
    return text.len ? arena_c_string(arena, text) : NULL;
}

static bool read_number(struct str text, uint64_t most, int *number)
{
    uint64_t value;
    if (!str_to_uint64(text, &value) || value > most)
        return false;
    *number = (int)value;
    return true;
}

/* "user:password" or ":password", percent-encoded. */
static bool read_user(struct str user, struct arena *arena, struct coord_settings *out)
{
    ptrdiff_t colon = str_find_char(user, ':');
    struct str name = colon < 0 ? user : str_first(user, (size_t)colon);
    struct str password = colon < 0 ? STR("") : str_from_offset(user, (size_t)colon + 1);
    if (!url_decode(arena, name, false, &name) || !url_decode(arena, password, false, &password))
        return false;
    out->username = c_string_or_null(arena, name);
    out->password = c_string_or_null(arena, password);
    return true;
}

/* "host", "host:6379" or "[::1]:6379". */
static bool read_host(struct str host, struct arena *arena, struct coord_settings *out)
{
    struct str port = {0};
    if (host.len && host.ptr[0] == '[') {
        ptrdiff_t bracket = str_find_char(host, ']');
        if (bracket < 0)
            return false;
        port = str_from_offset(host, (size_t)bracket + 1);
        if (port.len && port.ptr[0] != ':')
            return false;
        host = str_from_offset(str_first(host, (size_t)bracket), 1);
    } else {
        ptrdiff_t colon = str_find_char(host, ':');
        port = colon < 0 ? STR("") : str_from_offset(host, (size_t)colon);
        host = colon < 0 ? host : str_first(host, (size_t)colon);
    }
    out->host = c_string_or_null(arena, host);
    return out->host && (port.len == 0 || (read_number(str_from_offset(port, 1), 65535, &out->port) && out->port > 0));
}

/* redis://[[user]:password@]host[:port][/database] */
static bool read_url(struct str url, struct arena *arena, struct coord_settings *out)
{
    struct str rest = str_from_offset(url, sizeof("redis://") - 1);
    ptrdiff_t slash = str_find_char(rest, '/');
    struct str authority = slash < 0 ? rest : str_first(rest, (size_t)slash);
    struct str database = slash < 0 ? STR("") : str_from_offset(rest, (size_t)slash + 1);
    ptrdiff_t at = str_find_char(authority, '@');
    if (at >= 0 && !read_user(str_first(authority, (size_t)at), arena, out))
        return false;
    if (!read_host(at < 0 ? authority : str_from_offset(authority, (size_t)at + 1), arena, out))
        return false;
    return database.len == 0 || read_number(database, 9999, &out->database);
}

bool redis_settings_read(const struct settings *settings, struct arena *arena, struct coord_settings *out,
                         struct buf *problems)
{
    out->host = settings->redis_host.ptr;
    out->port = (int)settings->redis_port;
    out->username = NULL;
    out->password = settings->redis_password.ptr;
    out->database = (int)settings->redis_database;
    out->timeout_ms = settings->redis_timeout_ms;
    if (settings->redis_url.len && !read_url(settings->redis_url, arena, out)) {
        config_problem(problems,
                       "REDIS_URL must look like redis://user:password@host:6379/0, with a password's special "
                       "characters percent-encoded.");
        return false;
    }
    return true;
}

struct coord *redis_settings_open(const struct settings *settings, const char *installation, size_t max_entries,
                                  struct arena *arena)
{
    char prefix[INSTALLATION_PREFIX_SIZE];
    installation_prefix(installation, prefix);
    struct coord_settings coord = {.max_entries = max_entries, .prefix = prefix};
    struct buf problems = BUF_INIT(4096);
    bool read = redis_settings_read(settings, arena, &coord, &problems);
    buf_free(&problems);
    return read ? coord_open(&coord) : NULL;
}
