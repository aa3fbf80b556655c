/* Chunked bodies: what is read and what is refused, whole and however the bytes were split on their way. */
#include "base/random.h"
#include "http/chunk.h"
#include "test.h"

#include <stdlib.h>

enum { BODY_MAX = 64 };

struct reading {
    enum chunk_outcome outcome;
    enum error error;
    size_t taken; /* in all */
    struct buf body;
};

/* Hands over the bytes up to each of the ends, each part in memory of exactly its size. */
static struct reading read_in_parts(struct str bytes, const size_t *ends, size_t parts)
{
    struct chunk_reader reader = {0};
    struct reading reading = {.outcome = CHUNK_MORE, .error = ERROR_COUNT, .body = BUF_INIT(BODY_MAX)};
    for (size_t i = 0; i < parts && reading.outcome == CHUNK_MORE; i++) {
        size_t length = ends[i] - reading.taken, taken;
        char *part = malloc(length ? length : 1);
        assert_non_null(part);
        memcpy(part, bytes.ptr + reading.taken, length);
        reading.outcome = chunk_read(&reader, str_make(part, length), &reading.body, &taken, &reading.error);
        free(part);
        assert_true(taken <= length);
        assert_true(reading.outcome != CHUNK_MORE || taken == length);
        reading.taken += taken;
    }
    return reading;
}

static void assert_same(const struct reading *whole, struct reading split, struct str bytes)
{
    if (whole->outcome != split.outcome || whole->error != split.error || whole->taken != split.taken ||
        !str_eq(buf_str(&whole->body), buf_str(&split.body)))
        fail_msg("%.*s: splitting changed outcome %d to %d, error %d to %d", STR_ARG(bytes), (int)whole->outcome,
                 (int)split.outcome, (int)whole->error, (int)split.error);
    buf_free(&split.body);
}

static struct reading read_every_way(struct str bytes)
{
    struct reading whole = read_in_parts(bytes, &bytes.len, 1);
    for (size_t at = 0; at <= bytes.len; at++)
        assert_same(&whole, read_in_parts(bytes, (size_t[]){at, bytes.len}, 2), bytes);
    for (int round = 0; round < 20; round++) {
        size_t ends[8192], parts = 0;
        for (size_t at = 0; at < bytes.len; ends[parts++] = at) {
            at += 1 + random_below(round ? 20 : 1); /* the first round: byte by byte */
            at = at < bytes.len ? at : bytes.len;
        }
        assert_same(&whole, read_in_parts(bytes, ends, parts), bytes);
    }
    return whole;
}

static void test_accepted(void **state)
{
    (void)state;
    static const struct {
        struct str bytes, body;
    } cases[] = {
        {STR_INIT("0\r\n\r\n"), STR_INIT("")},
        {STR_INIT("5\r\nhello\r\n0\r\n\r\n"), STR_INIT("hello")},
        {STR_INIT("5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n00\r\n\r\n"), STR_INIT("hello world")},
        {STR_INIT("a\r\n0123456789\r\nB\r\n01234567890\r\n0\r\n\r\n"), STR_INIT("012345678901234567890")},
        {STR_INIT("0000000000000002\r\n\r\n\r\n0\r\n\r\n"), STR_INIT("\r\n")},
        {STR_INIT("2;a=b;c=\"d e\"\r\nhi\r\n0;last\r\n\r\n"), STR_INIT("hi")},
        {STR_INIT("2\r\nhi\r\n0\r\nExpires: never\r\nX-Empty:\r\n\r\n"), STR_INIT("hi")},
        {STR_INIT("40\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n0\r\n\r\n"),
         STR_INIT("0123456789012345678901234567890123456789012345678901234567890123")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading reading = read_every_way(cases[i].bytes);
        if (reading.outcome != CHUNK_COMPLETE)
            fail_msg("%.*s: outcome %d", STR_ARG(cases[i].bytes), (int)reading.outcome);
        assert_int_equal(reading.taken, cases[i].bytes.len);
        assert_str_equal(buf_str(&reading.body), cases[i].body);
        buf_free(&reading.body);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        struct str bytes;
        enum error error;
    } cases[] = {
        {STR_INIT("\r\n"), ERR_BAD_REQUEST},
        {STR_INIT(";a\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("g\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("-1\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("+1\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0x1\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT(" 1\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1 \r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1 ;a\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\t\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1,1\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\r\r\na\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\rXa\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\r\na\n0\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\r\na\r0\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\r\nab\r\n0\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1\r\na0\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1;a\nb\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1;a\0b\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1;a\x7f\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("1;\"a\r\nb\"\r\n"), ERR_BAD_REQUEST}, /* no line ends inside quotes */
        {STR_INIT("00000000000000001\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("10000000000000001\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("ffffffffffffffff\r\n"), ERR_BODY_TOO_LARGE},
        {STR_INIT("41\r\n"), ERR_BODY_TOO_LARGE},
        {STR_INIT("1\r\na\r\n40\r\n"), ERR_BODY_TOO_LARGE},
        {STR_INIT("0\r\n\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\n\r\r"), ERR_BAD_REQUEST},
        {STR_INIT("0\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nGET / HTTP/1.1\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA : b\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\n: b\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA: b\r\n c\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA: b\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA: b\rc\r\n\r\n"), ERR_BAD_REQUEST},
        {STR_INIT("0\r\nA: \0\r\n\r\n"), ERR_BAD_REQUEST},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading reading = read_every_way(cases[i].bytes);
        if (reading.outcome != CHUNK_REFUSED || reading.error != cases[i].error)
            fail_msg("%.*s: outcome %d, error %d instead of %d", STR_ARG(cases[i].bytes), (int)reading.outcome,
                     (int)reading.error, (int)cases[i].error);
        buf_free(&reading.body);
    }
}

/* Extensions over all chunks, and trailers, share one bound. */
static void test_overhead_is_bounded(void **state)
{
    (void)state;
    char bytes[6000];
    static const char *const beginnings[] = {"0\r\nA:", "1;", "1;x\r\na\r\n1;"};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        memset(bytes, 'x', sizeof(bytes));
        memcpy(bytes, beginnings[i], strlen(beginnings[i]));
        struct reading reading = read_in_parts(str_make(bytes, sizeof(bytes)), (size_t[]){4000, sizeof(bytes)}, 2);
        assert_int_equal(reading.outcome, CHUNK_REFUSED);
        assert_int_equal(reading.error, ERR_HEADERS_TOO_LARGE);
        buf_free(&reading.body);
    }
    struct buf many = BUF_INIT(1 << 20);
    for (int i = 0; i < 50; i++)
        buf_add_format(&many, "1;%0100d\r\na\r\n", 0);
    size_t end = many.len;
    struct reading reading = read_in_parts(buf_str(&many), &end, 1);
    assert_int_equal(reading.error, ERR_HEADERS_TOO_LARGE);
    buf_free(&reading.body);
    buf_free(&many);
}

static void test_what_follows_is_left_alone(void **state)
{
    (void)state;
    struct str body = STR("2\r\nhi\r\n0\r\nA: b\r\n\r\n");
    struct str both = STR("2\r\nhi\r\n0\r\nA: b\r\n\r\nGET / HTTP/1.1\r\n");
    struct reading reading = read_every_way(both);
    assert_int_equal(reading.outcome, CHUNK_COMPLETE);
    assert_int_equal(reading.taken, body.len);
    assert_str_equal(buf_str(&reading.body), STR("hi"));
    buf_free(&reading.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_overhead_is_bounded),
        cmocka_unit_test(test_what_follows_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
