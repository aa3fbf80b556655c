#include "tables/config.h"

#include "base/cidr.h"

#include <stddef.h>

#define SECRET true
#define PUBLIC false

static const struct config_row rows[] = {
#define CONFIG_GROUP(heading) {.name = (heading), .type = CONFIG_IS_GROUP, .fallback = ""},
#define CONFIG_ALIAS(alias, name)
#define CONFIG(member, name, type, fallback, min, max, unit, visibility, text)                                         \
    {name, CONFIG_IS_##type, offsetof(struct settings, member), fallback, min, max, unit, visibility, text},
#include "tables/config.def"
#undef CONFIG_GROUP
#undef CONFIG_ALIAS
#undef CONFIG
};

static const struct config_alias aliases[] = {
#define CONFIG_GROUP(heading)
#define CONFIG_ALIAS(alias, name) {alias, name},
#define CONFIG(member, name, type, fallback, min, max, unit, visibility, text)
#include "tables/config.def"
#undef CONFIG_GROUP
#undef CONFIG_ALIAS
#undef CONFIG
};

static const char *const own_prefixes[] = {"TICKETTOCK_", "FCFS_", "REDIS_", "JWT_", "RATE_LIMIT_", "PII_"};

const struct config_table settings_table = {
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .aliases = aliases,
    .alias_count = sizeof(aliases) / sizeof(aliases[0]),
    .own_prefixes = own_prefixes,
    .own_prefix_count = sizeof(own_prefixes) / sizeof(own_prefixes[0]),
};

static bool is_header_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'))
            return false;
    }
    return name.len > 0;
}

/* "https://shop.example:8443": a scheme and a host, nothing behind it. */
static bool is_origin(struct str origin)
{
    struct str rest = str_starts(origin, STR("https://"))  ? str_from_offset(origin, 8)
                      : str_starts(origin, STR("http://")) ? str_from_offset(origin, 7)
                                                           : STR("");
    return rest.len > 0 && str_find_char(rest, '/') < 0 && str_find_char(rest, ' ') < 0;
}

static void check_origins(struct str origins, struct buf *problems)
{
    struct str origin;
    if (str_eq(origins, STR("*")))
        return;
    while (str_split(&origins, ',', &origin))
        if (!is_origin(str_trim(origin)))
            config_problem(problems, "CORS_ORIGINS has '%.*s', which is not an origin like https://shop.example.",
                           STR_ARG(origin));
}

/* Anything else would be an error of the socket later. */
static void check_addresses(const struct settings *settings, struct buf *problems)
{
    struct in6_addr address;
    struct cidr_list proxies;
    if (!cidr_parse_address(settings->bind_address, &address))
        config_problem(problems, "BIND_ADDRESS must be a numeric address like 127.0.0.1 or ::.");
    if (!cidr_parse_address(settings->internal_bind, &address))
        config_problem(problems, "INTERNAL_BIND must be a numeric address like 127.0.0.1 or ::.");
    if (settings->trusted_proxies.len && !cidr_parse_list(settings->trusted_proxies, &proxies))
        config_problem(problems,
                       "TRUSTED_PROXIES must be addresses and networks like 10.0.0.0/8, with commas between, "
                       "at most %d.",
                       CIDR_MAX);
}

enum { KEY_MIN_BYTES = 32, SECRET_MIN_BYTES = 16 };

static void check_secret(const char *name, struct str secret, size_t least, struct buf *problems)
{
    if (secret.len && secret.len < least)
        config_problem(problems, "%s must have at least %zu bytes; `openssl rand -base64 33` makes a good one.", name,
                       least);
}

static void check_tokens(const struct settings *settings, struct buf *problems)
{
    check_secret("JWT_SECRET", settings->jwt_secret, KEY_MIN_BYTES, problems);
    check_secret("QUEUE_ENTRY_KEY", settings->queue_entry_key, KEY_MIN_BYTES, problems);
    check_secret("INTERNAL_API_TOKEN", settings->internal_api_token, SECRET_MIN_BYTES, problems);
    check_secret("ADMIN_TOKEN", settings->admin_token, SECRET_MIN_BYTES, problems);
    check_secret("GATEWAY_TOKEN", settings->gateway_token, SECRET_MIN_BYTES, problems);
    check_secret("CLOUDFRONT_SECRET", settings->cloudfront_secret, SECRET_MIN_BYTES, problems);
    if (settings->jwt_secret.len && str_eq(settings->jwt_secret, settings->queue_entry_key))
        config_problem(problems, "QUEUE_ENTRY_KEY must be another key than JWT_SECRET.");
    if (settings->refresh_token_lifetime < settings->access_token_lifetime)
        config_problem(problems, "JWT_REFRESH_TTL must not be shorter than JWT_ACCESS_TTL.");
    if (settings->internal_port && !settings->internal_api_token.len)
        config_problem(problems, "INTERNAL_PORT is set, but INTERNAL_API_TOKEN is not.");
    if (settings->waiting_room_schedules.len && settings->database_url.len && !settings->queue_entry_key.len)
        config_problem(problems, "WAITING_ROOM_SCHEDULES and DATABASE_URL are set, but QUEUE_ENTRY_KEY is not.");
}

void settings_check(const struct settings *settings, struct buf *problems)
{
    if (settings->redis_url.len && (settings->redis_host.len || settings->redis_password.len))
        config_problem(problems, "REDIS_URL and %s are both set; set one or the other.",
                       settings->redis_host.len ? "REDIS_HOST" : "REDIS_PASSWORD");
    if (settings->redis_password.len && !settings->redis_host.len && !settings->redis_url.len)
        config_problem(problems, "REDIS_PASSWORD is set, but REDIS_HOST is not.");
    if ((settings->redis_url.len || settings->redis_host.len) && !settings->database_url.len)
        config_problem(problems,
                       "%s is set, but DATABASE_URL is not; servers that share Redis must share PostgreSQL, "
                       "for several servers cannot use one built-in database.",
                       settings->redis_url.len ? "REDIS_URL" : "REDIS_HOST");
    if (settings->fcfs_user_header.len && !is_header_name(settings->fcfs_user_header))
        config_problem(problems, "FCFS_USER_HEADER must be the name of a header.");
    check_addresses(settings, problems);
    check_tokens(settings, problems);
    if (settings->cors_origins.len)
        check_origins(settings->cors_origins, problems);
}

bool settings_load(const struct config_input *input, struct settings *settings, struct config_value *values,
                   struct arena *arena, struct buf *problems)
{
    if (config_load(&settings_table, input, settings, values, arena, problems))
        settings_check(settings, problems);
    return problems->len == 0 && !problems->failed;
}
