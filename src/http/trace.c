#include "http/trace.h"

#include "base/random.h"

enum { SPAN_ID_LENGTH = 16, SHORT_TRACE_ID_LENGTH = 16, TRACEPARENT_LENGTH = 55 };

static bool is_hex(struct str s, size_t length)
{
    for (size_t i = 0; i < s.len; i++)
        if (!((s.ptr[i] >= '0' && s.ptr[i] <= '9') || (s.ptr[i] >= 'a' && s.ptr[i] <= 'f')))
            return false;
    return s.len == length;
}

/* Hex digits that are not all 0, which would mean that there is no id. */
static bool is_id(struct str s, size_t length)
{
    size_t zeros = 0;
    while (zeros < s.len && s.ptr[zeros] == '0')
        zeros++;
    return is_hex(s, length) && zeros < s.len;
}

/* "00-<32 hex>-<16 hex>-<2 hex>"; later versions may have more behind it. */
static bool read_traceparent(struct str parent, struct str *id)
{
    struct str rest = parent, version, span, flags;
    if (parent.len < TRACEPARENT_LENGTH || !str_split(&rest, '-', &version) || !str_split(&rest, '-', id) ||
        !str_split(&rest, '-', &span) || !str_split(&rest, '-', &flags))
        return false;
    bool is_first_version = str_eq(version, STR("00"));
    return is_hex(version, 2) && !str_eq(version, STR("ff")) && is_id(*id, TRACE_ID_LENGTH) &&
           is_id(span, SPAN_ID_LENGTH) && is_hex(flags, 2) && (!is_first_version || !rest.ptr);
}

static bool is_b3(struct str id, struct str span)
{
    return (is_id(id, TRACE_ID_LENGTH) || is_id(id, SHORT_TRACE_ID_LENGTH)) && is_id(span, SPAN_ID_LENGTH);
}

/* "<16 or 32 hex>-<16 hex>[-<0, 1 or d>[-<16 hex>]]" */
static bool read_b3(struct str b3, struct str *id)
{
    struct str rest = b3, span, sampled = STR("1"), parent;
    if (!str_split(&rest, '-', id) || !str_split(&rest, '-', &span) || !is_b3(*id, span))
        return false;
    if (str_split(&rest, '-', &sampled) && !(sampled.len == 1 && str_find_char(STR("01d"), sampled.ptr[0]) >= 0))
        return false;
    return !str_split(&rest, '-', &parent) || (is_id(parent, SPAN_ID_LENGTH) && !rest.ptr);
}

static bool read_b3_headers(const struct request *rq, struct str *id)
{
    *id = request_header(rq, STR("X-B3-TraceId"));
    return id->ptr && is_b3(*id, request_header(rq, STR("X-B3-SpanId")));
}

static void put_hex(char *out, uint64_t value)
{
    for (int i = 15; i >= 0; i--, value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
}

void trace_begin(struct request *rq)
{
    struct str id;
    if (read_traceparent(request_header(rq, STR("traceparent")), &id) || read_b3(request_header(rq, STR("b3")), &id) ||
        read_b3_headers(rq, &id)) {
        memset(rq->trace, '0', TRACE_ID_LENGTH);
        memcpy(rq->trace + TRACE_ID_LENGTH - id.len, id.ptr, id.len);
        return;
    }
    put_hex(rq->trace, random_fast());
    put_hex(rq->trace + 16, random_fast());
}
