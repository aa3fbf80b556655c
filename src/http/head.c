#include "http/head.h"

#include "http/chars.h"

static const struct str method_names[] = {
    [HTTP_GET] = STR_INIT("GET"),         [HTTP_HEAD] = STR_INIT("HEAD"),   [HTTP_POST] = STR_INIT("POST"),
    [HTTP_PUT] = STR_INIT("PUT"),         [HTTP_PATCH] = STR_INIT("PATCH"), [HTTP_DELETE] = STR_INIT("DELETE"),
    [HTTP_OPTIONS] = STR_INIT("OPTIONS"), [HTTP_TRACE] = STR_INIT("TRACE"),
};

struct str http_method_name(enum http_method method)
{
    return method_names[method];
}

static bool refuse(enum error *error, enum error why)
{
    *error = why;
    return false;
}

/* What the headers that steer the reading have said so far. */
struct framing {
    bool has_host;
    bool wants_close;
    bool wants_keep_alive;
};

static bool parse_version(struct str version, int *minor, enum error *error)
{
    if (version.len != 8 || memcmp(version.ptr, "HTTP/", 5) != 0 || version.ptr[6] != '.')
        return refuse(error, ERR_BAD_REQUEST);
    char major_digit = version.ptr[5], minor_digit = version.ptr[7];
    if (major_digit < '0' || major_digit > '9' || minor_digit < '0' || minor_digit > '9')
        return refuse(error, ERR_BAD_REQUEST);
    if (major_digit != '1' || minor_digit > '1')
        return refuse(error, ERR_VERSION_NOT_SUPPORTED);
    *minor = minor_digit - '0';
    return true;
}

static bool parse_method(struct str name, enum http_method *method, enum error *error)
{
    for (enum http_method i = HTTP_GET; i < HTTP_METHOD_COUNT; i++)
        if (str_eq(name, method_names[i])) {
            *method = i;
            return true;
        }
    for (size_t i = 0; i < name.len; i++)
        if (!http_char_is(name.ptr[i], CHAR_TOKEN))
            return refuse(error, ERR_BAD_REQUEST);
    return refuse(error, name.len ? ERR_METHOD_NOT_IMPLEMENTED : ERR_BAD_REQUEST);
}

/* Where the characters of that kind and valid escapes end. */
static size_t skip_url_part(struct str target, size_t at, enum http_char kind)
{
    for (;;) {
        while (at < target.len && http_char_is(target.ptr[at], kind))
            at++;
        if (at == target.len || target.ptr[at] != '%' || !http_escape_is_valid(target, at))
            return at;
        at += 3;
    }
}

static bool port_is_valid(struct str port)
{
    uint64_t number;
    return port.len <= 5 && str_to_uint64(port, &number) && number <= UINT16_MAX;
}

/* A name or an address, and perhaps a port: less than RFC 3986 would let through, but all that is in use. */
static bool host_is_valid(struct str host)
{
    size_t end = 0;
    if (host.len && host.ptr[0] == '[') {
        end++;
        while (end < host.len &&
               (http_char_is(host.ptr[end], CHAR_HEX) || host.ptr[end] == ':' || host.ptr[end] == '.'))
            end++;
        if (end < 3 || end == host.len || host.ptr[end++] != ']')
            return false;
    } else {
        while (end < host.len && http_char_is(host.ptr[end], CHAR_HOST))
            end++;
    }
    if (end == 0)
        return false;
    return end == host.len || (host.ptr[end] == ':' && port_is_valid(str_from_offset(host, end + 1)));
}

/* "http://host:port" in front of the path, as proxies are asked and as servers must understand as well. */
static bool split_authority(struct str *target, struct str *authority)
{
    static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://")};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
        if (str_ieq(str_first(*target, schemes[i].len), schemes[i])) {
            *target = str_from_offset(*target, schemes[i].len);
            size_t end = 0;
            while (end < target->len && target->ptr[end] != '/' && target->ptr[end] != '?')
                end++;
            *authority = str_first(*target, end);
            *target = str_from_offset(*target, end);
            return host_is_valid(*authority);
        }
    return true;
}

static bool parse_target(struct str target, struct http_head *head, struct str *authority)
{
    if (str_eq(target, STR("*"))) {
        head->path = target;
        return head->method == HTTP_OPTIONS;
    }
    if (!split_authority(&target, authority))
        return false;
    size_t end = 0;
    if (target.len && target.ptr[0] == '/') {
        end = skip_url_part(target, 0, CHAR_PATH);
        head->path = str_first(target, end);
    } else if (authority->len) {
        head->path = head->method == HTTP_OPTIONS && target.len == 0 ? STR("*") : STR("/");
    } else {
        return false;
    }
    if (end < target.len && target.ptr[end] == '?') {
        head->query = str_from_offset(target, end + 1);
        end = skip_url_part(target, end + 1, CHAR_QUERY);
    }
    return end == target.len;
}

static bool parse_request_line(struct str line, struct http_head *head, struct str *authority, enum error *error)
{
    ptrdiff_t method_end = str_find_char(line, ' ');
    if (method_end < 0)
        return refuse(error, ERR_BAD_REQUEST);
    struct str rest = str_from_offset(line, (size_t)method_end + 1);
    ptrdiff_t target_end = str_find_char(rest, ' ');
    if (target_end < 0)
        return refuse(error, ERR_BAD_REQUEST);
    if (!parse_version(str_from_offset(rest, (size_t)target_end + 1), &head->minor, error) ||
        !parse_method(str_first(line, (size_t)method_end), &head->method, error))
        return false;
    return parse_target(str_first(rest, (size_t)target_end), head, authority) || refuse(error, ERR_BAD_REQUEST);
}

static void note_connection(struct framing *framing, struct str value)
{
    struct str item;
    while (str_split(&value, ',', &item)) {
        item = str_trim(item);
        if (str_ieq(item, STR("close")))
            framing->wants_close = true;
        else if (str_ieq(item, STR("keep-alive")))
            framing->wants_keep_alive = true;
    }
}

static bool note_length(struct http_head *head, struct str value)
{
    bool first = !head->has_length;
    head->has_length = true;
    return first && str_to_uint64(value, &head->content_length) && head->content_length <= INT64_MAX;
}

static bool note_encoding(struct http_head *head, struct str value)
{
    bool first = !head->chunked;
    head->chunked = true;
    return first && str_ieq(value, STR("chunked"));
}

static bool note_host(struct framing *framing, struct str value)
{
    bool first = !framing->has_host;
    framing->has_host = true;
    return first && host_is_valid(value);
}

/* Tabs around a value are allowed by RFC 9110, but not every reader takes them off (to http-parser "chunked<tab>"
 * is an unknown encoding): so there are none around what tells where a request goes or ends. */
static bool has_tab(struct str raw)
{
    return str_find_char(raw, '\t') >= 0;
}

/* Only a few headers steer the reading; their lengths tell them from most others at once. `raw` is the value with
 * the blanks around it. */
static bool note_header(struct http_head *head, struct framing *framing, const struct http_header *header,
                        struct str raw, enum error *error)
{
    struct str name = header->name, value = header->value;
    bool good = true;
    switch (name.len) {
    case 4:
        if (str_ieq(name, STR("Host")))
            good = !has_tab(raw) && note_host(framing, value);
        break;
    case 6:
        if (str_ieq(name, STR("Expect"))) {
            if (!str_ieq(value, STR("100-continue")))
                return refuse(error, ERR_EXPECTATION_FAILED);
            head->expects_continue = true;
        }
        break;
    case 10:
        if (str_ieq(name, STR("Connection")))
            note_connection(framing, value);
        break;
    case 14:
        if (str_ieq(name, STR("Content-Length")))
            good = !has_tab(raw) && note_length(head, value);
        break;
    case 17:
        if (str_ieq(name, STR("Transfer-Encoding")))
            good = !has_tab(raw) && note_encoding(head, value);
        break;
    }
    return good || refuse(error, ERR_BAD_REQUEST);
}

/* `at` is the first header line; the head ends with an empty line. */
static bool parse_headers(struct str bytes, size_t at, struct http_head *head, struct framing *framing,
                          enum error *error)
{
    while (bytes.ptr[at] != '\r') {
        size_t start = at;
        while (http_char_is(bytes.ptr[at], CHAR_TOKEN))
            at++;
        if (at == start || bytes.ptr[at] != ':')
            return refuse(error, ERR_BAD_REQUEST);
        if (head->header_count == HTTP_HEADERS_MAX)
            return refuse(error, ERR_HEADERS_TOO_LARGE);
        struct http_header *header = &head->headers[head->header_count++];
        header->name = str_make(bytes.ptr + start, at - start);

        start = at + 1;
        at = (size_t)((const char *)memchr(bytes.ptr + start, '\r', bytes.len - start) - bytes.ptr);
        struct str raw = str_make(bytes.ptr + start, at - start);
        header->value = str_trim(raw);
        if (!note_header(head, framing, header, raw, error))
            return false;
        at += 2;
    }
    return true;
}

static bool check_framing(struct http_head *head, const struct framing *framing)
{
    if (head->minor == 1 && !framing->has_host)
        return false;
    if (head->chunked && (head->has_length || head->minor == 0))
        return false;
    head->keep_alive = !framing->wants_close && (head->minor == 1 || framing->wants_keep_alive);
    /* HTTP/1.0 knows no 100, and without a body there is nothing to go on with (RFC 9110 10.1.1). */
    if (head->minor == 0 || (!head->chunked && head->content_length == 0))
        head->expects_continue = false;
    return true;
}

static void replace_host(struct http_head *head, struct str authority)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (str_ieq(head->headers[i].name, STR("Host")))
            head->headers[i].value = authority;
}

/* Without a loop over the headers' places, which are many. */
void head_clear(struct http_head *head)
{
    head->method = HTTP_GET;
    head->path = head->query = str_make(NULL, 0);
    head->minor = 1;
    head->keep_alive = head->expects_continue = head->chunked = head->has_length = false;
    head->content_length = 0;
    head->header_count = 0;
}

bool head_parse(struct str bytes, struct http_head *head, enum error *error)
{
    head_clear(head);
    size_t line_start = bytes.ptr[0] == '\r' ? 2 : 0;
    const char *line_end = memchr(bytes.ptr + line_start, '\r', bytes.len - line_start);
    struct str line = str_make(bytes.ptr + line_start, (size_t)(line_end - bytes.ptr) - line_start);
    struct framing framing = {0};
    struct str authority = {NULL, 0};
    if (!parse_request_line(line, head, &authority, error) ||
        !parse_headers(bytes, line_start + line.len + 2, head, &framing, error))
        return false;
    if (authority.len)
        replace_host(head, authority);
    return check_framing(head, &framing) || refuse(error, ERR_BAD_REQUEST);
}

struct str head_header(const struct http_head *head, struct str name)
{
    for (size_t i = 0; i < head->header_count; i++)
        if (str_ieq(head->headers[i].name, name))
            return head->headers[i].value;
    return str_make(NULL, 0);
}
