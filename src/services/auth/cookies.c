#include "services/auth/cookies.h"

#include "http/origin.h"
#include "services/app.h"
#include "tables/config.h"

enum { GUEST_LIFETIME_S = 365 * 24 * 3600, GOOGLE_LIFETIME_S = 600 };

static bool is_secure(struct request *rq)
{
    switch ((enum cookie_secure)app_of(rq)->settings->cookie_secure) {
    case COOKIE_SECURE_ALWAYS: return true;
    case COOKIE_SECURE_NEVER: return false;
    case COOKIE_SECURE_AUTO: break;
    }
    return request_over_tls(rq);
}

static void set(struct request *rq, const char *name, struct str value, const char *path, int64_t lifetime)
{
    reply_header(rq, STR("Set-Cookie"),
                 arena_format(&rq->arena, "%s=%.*s; Path=%s; Max-Age=%lld; HttpOnly; SameSite=Lax%s", name,
                              STR_ARG(value), path, (long long)lifetime, is_secure(rq) ? "; Secure" : ""));
}

/* A browser takes cookies from an answer also when it sent none: with a form, another site could sign its visitors in
 * as somebody else, or out. */
static void set_both(struct request *rq, struct str access_token, int64_t access_lifetime, struct str refresh_token,
                     int64_t refresh_lifetime)
{
    if (request_origin(rq) == ORIGIN_OTHER)
        return;
    set(rq, "access_token", access_token, "/", access_lifetime);
    set(rq, "refresh_token", refresh_token, "/api", refresh_lifetime);
}

void cookies_set(struct request *rq, struct str access_token, struct str refresh_token)
{
    const struct settings *settings = app_of(rq)->settings;
    set_both(rq, access_token, settings->access_token_lifetime, refresh_token, settings->refresh_token_lifetime);
}

void cookies_clear(struct request *rq)
{
    set_both(rq, STR(""), 0, STR(""), 0);
}

void cookies_set_guest(struct request *rq, struct str value)
{
    set(rq, "guest", value, "/", GUEST_LIFETIME_S);
}

struct str cookies_refresh_token(const struct request *rq)
{
    return request_cookie(rq, STR("refresh_token"));
}

void cookies_set_google(struct request *rq, struct str secret)
{
    if (request_origin(rq) != ORIGIN_OTHER)
        set(rq, "google_nonce", secret, "/api", secret.len ? GOOGLE_LIFETIME_S : 0);
}

struct str cookies_google(const struct request *rq)
{
    return request_cookie(rq, STR("google_nonce"));
}
