/* Paths, queries and percent-encoding. Decoded text lives in the arena. */
#ifndef HTTP_URL_H
#define HTTP_URL_H

#include "base/arena.h"
#include "base/str.h"

/* Percent-decodes; refuses bad escapes, NUL and what is not UTF-8. `plus` turns '+' into a blank, as queries do. */
bool url_decode(struct arena *arena, struct str encoded, bool plus, struct str *decoded);

/* Is this path free of what makes proxies and servers disagree: "//", "/./", "/../" (also percent-encoded),
 * encoded '/' or '\', raw '\', control characters, bad escapes? It must begin with '/'. */
bool url_path_is_plain(struct str path);

enum { URL_PARAMS_MAX = 64 };
struct url_param {
    struct str name, value;
};

enum url_query {
    URL_QUERY_READ,
    URL_QUERY_BAD_TEXT, /* a bad escape, NUL, or not UTF-8 */
    URL_QUERY_TWICE,    /* a name comes twice: one reader would take the first, another the last */
    URL_QUERY_TOO_MANY,
};

/* name=value&… into params, of which the first *count are filled. */
enum url_query url_parse_query(struct arena *arena, struct str query, struct url_param params[URL_PARAMS_MAX],
                               size_t *count);

/* Adds with everything but unreserved characters escaped. */
void url_encode(struct buf *out, struct str text);

#endif
