#include "http/url.h"

#include "http/chars.h"

static char unescape(struct str s, size_t at)
{
    return (char)(http_hex_value(s.ptr[at + 1]) << 4 | http_hex_value(s.ptr[at + 2]));
}

bool url_decode(struct arena *arena, struct str encoded, bool plus, struct str *decoded)
{
    char *out = arena_bytes(arena, encoded.len);
    size_t length = 0;
    for (size_t i = 0; i < encoded.len; i++) {
        char c = encoded.ptr[i];
        if (c == '%') {
            if (!http_escape_is_valid(encoded, i))
                return false;
            c = unescape(encoded, i);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == '\0')
            return false;
        out[length++] = c;
    }
    *decoded = str_make(out, length);
    return str_is_utf8(*decoded);
}

/* The next character of the path, unescaped; NUL (which no path may hold) when it is not allowed. */
static char next_plain(struct str path, size_t *at)
{
    char c = path.ptr[*at];
    bool escaped = c == '%';
    if (escaped) {
        if (!http_escape_is_valid(path, *at))
            return '\0';
        c = unescape(path, *at);
        *at += 2;
    }
    *at += 1;
    bool control = (unsigned char)c < 0x20 || c == 0x7f;
    return control || c == '\\' || (escaped && c == '/') ? '\0' : c;
}

bool url_path_is_plain(struct str path)
{
    if (path.len == 0 || path.ptr[0] != '/')
        return false;
    for (size_t at = 1; at < path.len;) {
        size_t length = 0, dots = 0;
        char c = '\0';
        while (at < path.len && c != '/') {
            c = next_plain(path, &at);
            if (c == '\0')
                return false;
            length += c != '/';
            dots += c == '.';
        }
        if (length == 0 || (dots == length && length <= 2))
            return false;
    }
    return true;
}

enum url_query url_parse_query(struct arena *arena, struct str query, struct url_param params[URL_PARAMS_MAX],
                               size_t *count)
{
    *count = 0;
    struct str pair;
    while (str_split(&query, '&', &pair)) {
        if (pair.len == 0)
            continue;
        if (*count == URL_PARAMS_MAX)
            return URL_QUERY_TOO_MANY;
        struct url_param *param = &params[*count];
        ptrdiff_t equals = str_find_char(pair, '=');
        struct str name = equals < 0 ? pair : str_first(pair, (size_t)equals);
        struct str value = equals < 0 ? str_make(pair.ptr + pair.len, 0) : str_from_offset(pair, (size_t)equals + 1);
        if (!url_decode(arena, name, true, &param->name) || !url_decode(arena, value, true, &param->value))
            return URL_QUERY_BAD_TEXT;
        for (size_t i = 0; i < *count; i++)
            if (str_eq(params[i].name, param->name))
                return URL_QUERY_TWICE;
        ++*count;
    }
    return URL_QUERY_READ;
}

void url_encode(struct buf *out, struct str text)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (http_char_is(text.ptr[i], CHAR_UNRESERVED))
            buf_add_char(out, text.ptr[i]);
        else
            buf_add(out, str_make((char[]){'%', hex[c >> 4], hex[c & 15]}, 3));
    }
}
