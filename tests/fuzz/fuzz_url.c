/*
 * URLs. For every input
 *   - what url_encode writes, url_decode reads back,
 *   - a query that is accepted means the same when written again from its parameters,
 *   - a path that counts as plain has, decoded, the same segments and none that is empty, "." or "..".
 */
#include "http/url.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_round_trip(struct arena *arena, struct str text)
{
    struct buf encoded = BUF_INIT(3 * text.len + 1);
    struct str decoded;
    url_encode(&encoded, text);
    expect(!encoded.failed);
    bool readable = str_is_utf8(text) && str_find_char(text, '\0') < 0;
    expect(url_decode(arena, buf_str(&encoded), true, &decoded) == readable);
    if (readable)
        expect(str_eq(decoded, text));
    buf_free(&encoded);
}

static void check_query(struct arena *arena, struct str query)
{
    struct url_param params[URL_PARAMS_MAX], again[URL_PARAMS_MAX];
    size_t count, again_count;
    if (url_parse_query(arena, query, params, &count) != URL_QUERY_READ)
        return;
    struct buf rewritten = BUF_INIT(3 * query.len + 3 * URL_PARAMS_MAX);
    for (size_t i = 0; i < count; i++) {
        buf_add(&rewritten, i ? STR("&") : STR(""));
        url_encode(&rewritten, params[i].name);
        buf_add(&rewritten, STR("="));
        url_encode(&rewritten, params[i].value);
    }
    expect(!rewritten.failed);
    expect(url_parse_query(arena, buf_str(&rewritten), again, &again_count) == URL_QUERY_READ && again_count == count);
    for (size_t i = 0; i < count; i++)
        expect(str_eq(params[i].name, again[i].name) && str_eq(params[i].value, again[i].value));
    buf_free(&rewritten);
}

static void check_path(struct arena *arena, struct str path)
{
    struct str rest, segment, decoded;
    if (!url_path_is_plain(path) || !url_decode(arena, path, false, &decoded))
        return;
    expect(decoded.ptr[0] == '/' && str_find_char(decoded, '\\') < 0);
    size_t raw_slashes = 0, slashes = 0;
    for (size_t i = 0; i < path.len; i++)
        raw_slashes += path.ptr[i] == '/';
    for (rest = str_from_offset(decoded, 1); str_split(&rest, '/', &segment); slashes++) {
        expect(segment.len || !rest.ptr); /* only the last may be empty: "/" and "/a/" */
        expect(!str_eq(segment, STR(".")) && !str_eq(segment, STR("..")));
    }
    expect(slashes == raw_slashes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 64 * size + 65536);
    char *exact = malloc(size ? size : 1);
    expect(exact != NULL);
    memcpy(exact, data, size);
    struct str text = str_make(exact, size);
    check_round_trip(&arena, text);
    check_query(&arena, text);
    check_path(&arena, text);
    free(exact);
    arena_free(&arena);
    return 0;
}
