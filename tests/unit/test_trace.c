/* Whose trace a request goes on with: valid headers of three kinds are taken, everything else starts a new one. */
#include "http/trace.h"
#include "test.h"

#include <stdio.h>

#define ID "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define SHORT_ID "a3ce929d0e0e4736"

static const struct {
    const char *what, *header, *value, *other_header, *other_value, *id; /* NULL: a new one */
} rows[] = {
    {"traceparent", "traceparent", "00-" ID "-" SPAN "-01", NULL, NULL, ID},
    {"its name in another case", "Traceparent", "00-" ID "-" SPAN "-00", NULL, NULL, ID},
    {"a later version", "traceparent", "01-" ID "-" SPAN "-01", NULL, NULL, ID},
    {"a later version with more", "traceparent", "cc-" ID "-" SPAN "-01-what-the-future", NULL, NULL, ID},
    {"the first version with more", "traceparent", "00-" ID "-" SPAN "-01-more", NULL, NULL, NULL},
    {"the version that is forbidden", "traceparent", "ff-" ID "-" SPAN "-01", NULL, NULL, NULL},
    {"no id", "traceparent", "00-00000000000000000000000000000000-" SPAN "-01", NULL, NULL, NULL},
    {"no span", "traceparent", "00-" ID "-0000000000000000-01", NULL, NULL, NULL},
    {"upper case", "traceparent", "00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", NULL, NULL, NULL},
    {"too short an id", "traceparent", "00-" SHORT_ID "-" SPAN "-01-0000000000000000", NULL, NULL, NULL},
    {"no flags", "traceparent", "00-" ID "-" SPAN, NULL, NULL, NULL},
    {"not hex", "traceparent", "00-" ID "-" SPAN "-0x", NULL, NULL, NULL},
    {"a quote", "traceparent", "00-4bf92f3577b34da6a3ce929d0e0e473\"-" SPAN "-01", NULL, NULL, NULL},
    {"empty", "traceparent", "", NULL, NULL, NULL},

    {"b3", "b3", ID "-" SPAN, NULL, NULL, ID},
    {"b3, sampled", "b3", ID "-" SPAN "-1", NULL, NULL, ID},
    {"b3, not sampled", "B3", ID "-" SPAN "-0", NULL, NULL, ID},
    {"b3, debug", "b3", ID "-" SPAN "-d", NULL, NULL, ID},
    {"b3 with parent", "b3", ID "-" SPAN "-1-05e3ac9a4f6e3b90", NULL, NULL, ID},
    {"b3, short", "b3", SHORT_ID "-" SPAN "-1", NULL, NULL, "0000000000000000" SHORT_ID},
    {"b3, a decision only", "b3", "0", NULL, NULL, NULL},
    {"b3 without a span", "b3", ID, NULL, NULL, NULL},
    {"b3, no id", "b3", "0000000000000000-" SPAN, NULL, NULL, NULL},
    {"b3, strange flag", "b3", ID "-" SPAN "-2", NULL, NULL, NULL},
    {"b3, long flag", "b3", ID "-" SPAN "-true", NULL, NULL, NULL},
    {"b3, more", "b3", ID "-" SPAN "-1-" SPAN "-1", NULL, NULL, NULL},
    {"b3, bad parent", "b3", ID "-" SPAN "-1-x", NULL, NULL, NULL},

    {"b3 in several", "X-B3-TraceId", ID, "X-B3-SpanId", SPAN, ID},
    {"b3 in several, short", "x-b3-traceid", SHORT_ID, "x-b3-spanid", SPAN, "0000000000000000" SHORT_ID},
    {"b3 in several, no span", "X-B3-TraceId", ID, NULL, NULL, NULL},
    {"b3 in several, bad id", "X-B3-TraceId", "7", "X-B3-SpanId", SPAN, NULL},

    {"traceparent before b3", "b3", SHORT_ID "-" SPAN, "traceparent", "00-" ID "-" SPAN "-01", ID},
    {"b3 where traceparent is bad", "b3", ID "-" SPAN, "traceparent", "00-x", ID},
    {"nothing", "X-Other", ID, NULL, NULL, NULL},
};

static struct str trace_of(struct request *rq, size_t row)
{
    *rq = (struct request){0};
    rq->head.headers[rq->head.header_count++] =
        (struct http_header){str_from(rows[row].header), str_from(rows[row].value)};
    if (rows[row].other_header)
        rq->head.headers[rq->head.header_count++] =
            (struct http_header){str_from(rows[row].other_header), str_from(rows[row].other_value)};
    trace_begin(rq);
    return str_make(rq->trace, TRACE_ID_LENGTH);
}

static bool is_lower_hex(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (str_find_char(STR("0123456789abcdef"), s.ptr[i]) < 0)
            return false;
    return true;
}

static void test_table(void **state)
{
    (void)state;
    static struct request first, second;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str one = trace_of(&first, i), other = trace_of(&second, i);
        bool as_expected = rows[i].id ? str_eq(one, str_from(rows[i].id)) && str_eq(one, other)
                                      : is_lower_hex(one) && !str_eq(one, other) && !str_eq(one, STR(ID));
        if (!as_expected)
            fail_msg("%s: %.*s, then %.*s", rows[i].what, STR_ARG(one), STR_ARG(other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    return cmocka_run_group_tests_name("trace", tests, NULL, NULL);
}
