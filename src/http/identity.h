/* Who calls: what the gateway's filters found out about a request before its handler runs. Strings live in the
 * request's arena or in its head. */
#ifndef HTTP_IDENTITY_H
#define HTTP_IDENTITY_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum role {
    ROLE_ANONYMOUS,
    ROLE_USER,
    ROLE_STAFF, /* check-in only */
    ROLE_ADMIN,
};

struct identity {
    enum role role;
    struct str user_id; /* empty: anonymous */
    struct str token_id, family;
    int64_t expires_at; /* of the access token, Unix seconds */
    struct str token;   /* as it was sent, before anybody has looked at it; ptr NULL: none */
    bool by_cookie;     /* the token came in a cookie */
    bool refused;       /* the token is not good, or no longer */
    bool by_gateway;    /* the request carries the secret of the gateway in front */
    bool by_header;     /* not signed in: a plain user header that is believed on this route */
    struct str guest;   /* whom the browser's cookie names, where guests count; else empty */
};

#endif
