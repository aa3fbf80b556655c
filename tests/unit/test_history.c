#include "check_support.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>

#define HEADER "{\"tickettock\":\"history\",\"version\":1,\"seats\":3}\n"
#define CLAIM "{\"op\":\"claim\",\"user\":\"u\",\"start\":1,\"end\":2,\"status\":200,\"seat\":1,\"seq\":1}\n"

static void put(const char *text)
{
    FILE *file = fopen(check_path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* What reading to the end comes to, and after how many requests. */
static enum history_outcome read_all(size_t *count, char *problem, size_t size)
{
    struct arena arena;
    struct str why;
    arena_init(&arena, 1 << 16);
    struct history_reader *reader = history_reader_open(check_path, &arena, &why);
    enum history_outcome outcome = HISTORY_DAMAGED;
    *count = 0;
    if (reader) {
        struct history_op op;
        while ((outcome = history_reader_next(reader, &op)) == HISTORY_OP)
            ++*count;
        why = history_reader_problem(reader);
    }
    snprintf(problem, size, "%.*s", STR_ARG(why));
    if (reader)
        history_reader_close(reader);
    arena_free(&arena);
    return outcome;
}

static void expect_damaged(const char *text, const char *expected)
{
    size_t count;
    char problem[512];
    put(text);
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_DAMAGED);
    assert_string_equal(problem, expected);
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    struct history_header header = HISTORY_HEADER_UNKNOWN;
    header.schedule = STR("demo");
    header.seats = 9;
    header.servers = 2;
    header.taken = STR("");
    struct history_writer *writer = history_writer_create(check_path, &header);
    assert_non_null(writer);
    struct history_op claim = HISTORY_OP_UNKNOWN, map = HISTORY_OP_UNKNOWN, lost = HISTORY_OP_UNKNOWN;
    claim.user = STR("\xea\xb9\x80 \"u\"\n");
    claim.start = 10;
    claim.end = 20;
    claim.status = 409;
    claim.reason = STR("sold_out");
    claim.seat = 0;
    map.kind = HISTORY_MAP;
    map.end = 1;
    map.status = 200;
    map.generation = 1;
    map.version = 7;
    map.taken = STR("1-5,9");
    lost.kind = HISTORY_RELEASE;
    lost.user = STR("v");
    history_append(writer, &claim);
    history_append(writer, &map);
    history_append(writer, &lost);
    assert_true(history_writer_close(writer));

    struct arena arena;
    struct str problem;
    arena_init(&arena, 1 << 16);
    struct history_reader *reader = history_reader_open(check_path, &arena, &problem);
    assert_non_null(reader);
    const struct history_header *read = history_reader_header(reader);
    assert_str_equal(read->schedule, header.schedule);
    assert_int_equal(read->seats, 9);
    assert_int_equal(read->servers, 2);
    assert_non_null(read->taken.ptr);
    assert_int_equal(read->started, -1);
    struct history_op op;
    assert_int_equal(history_reader_next(reader, &op), HISTORY_OP);
    assert_str_equal(op.user, claim.user);
    assert_str_equal(op.reason, claim.reason);
    assert_int_equal(op.status, 409);
    assert_int_equal(op.seat, 0);
    assert_int_equal(op.sequence, -1);
    assert_int_equal(history_reader_line(reader), 2);
    assert_int_equal(history_reader_next(reader, &op), HISTORY_OP);
    assert_int_equal(op.kind, HISTORY_MAP);
    assert_str_equal(op.taken, map.taken);
    assert_int_equal(op.version, 7);
    assert_int_equal(history_reader_next(reader, &op), HISTORY_OP);
    assert_int_equal(op.end, HISTORY_NO_ANSWER);
    assert_int_equal(op.status, 0);
    assert_int_equal(history_reader_next(reader, &op), HISTORY_END);
    assert_int_equal(history_reader_next(reader, &op), HISTORY_END);
    history_reader_close(reader);
    arena_free(&arena);
}

static void test_a_recorder_that_died(void **state)
{
    (void)state;
    size_t count;
    char problem[512];
    put(HEADER CLAIM CLAIM);
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_CUT_OFF);
    assert_int_equal(count, 2);
    put(HEADER CLAIM "{\"op\":\"claim\",\"user\":\"u\",\"sta");
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_CUT_OFF);
    assert_int_equal(count, 1);
    put(HEADER);
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_CUT_OFF);
    put(HEADER CLAIM "{\"op\":\"end\",\"count\":1}");
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_END);
}

static void test_damage_is_told_with_its_line(void **state)
{
    (void)state;
    expect_damaged("", "the file is empty or cannot be read");
    expect_damaged("{\"tickettock\":\"poem\",\"version\":1,\"seats\":3}\n",
                   "line 1: no history of a version that this program reads");
    expect_damaged(HEADER CLAIM "{\"op\":\"claim\",\"us\n" CLAIM,
                   "line 3: The body is not JSON that can be read: the string has no end at byte 17.");
    expect_damaged(HEADER "{\"op\":\"dance\",\"user\":\"u\",\"start\":1}\n", "line 2: there is no op \"dance\"");
    expect_damaged(HEADER "{\"op\":\"claim\",\"start\":1}\n", "line 2: user is missing");
    expect_damaged(HEADER "{\"op\":\"claim\",\"user\":\"u\"}\n", "line 2: start is missing");
    expect_damaged(HEADER "{\"op\":\"claim\",\"user\":\"u\",\"start\":5,\"end\":4,\"status\":200}\n",
                   "line 2: it ends before it starts");
    expect_damaged(HEADER "{\"op\":\"claim\",\"user\":\"u\",\"start\":5,\"end\":6}\n",
                   "line 2: an answer needs both end and status");
    expect_damaged(HEADER CLAIM "{\"op\":\"end\",\"count\":2}\n",
                   "line 3: the recorder wrote 2 requests, but 1 are here");
    expect_damaged(HEADER "{\"op\":\"end\",\"count\":0}\n" CLAIM, "line 3: there is a line behind the last one");
}

enum { THREADS = 4, LINES_EACH = 5000 };

static void *append_many(void *writer)
{
    struct history_op op = HISTORY_OP_UNKNOWN;
    op.user = STR("somebody");
    for (int i = 0; i < LINES_EACH; i++) {
        op.start = i;
        history_append(writer, &op);
    }
    return NULL;
}

static void test_many_threads_append(void **state)
{
    (void)state;
    struct history_header header = HISTORY_HEADER_UNKNOWN;
    struct history_writer *writer = history_writer_create(check_path, &header);
    assert_non_null(writer);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, writer), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_true(history_writer_close(writer));
    size_t count;
    char problem[512];
    assert_int_equal(read_all(&count, problem, sizeof(problem)), HISTORY_END);
    assert_int_equal(count, THREADS * LINES_EACH);
}

static void test_a_disk_that_is_full_is_told(void **state)
{
    (void)state;
    struct history_header header = HISTORY_HEADER_UNKNOWN;
    struct history_writer *writer = history_writer_create("/dev/full", &header);
    assert_non_null(writer);
    assert_false(history_writer_close(writer));
    assert_null(history_writer_create("/nowhere/at/all", &header));
}

static void test_seat_ranges(void **state)
{
    (void)state;
    struct buf text = BUF_INIT(100);
    struct seat_ranges ranges = {.out = &text};
    const int64_t seats[] = {1, 2, 3, 7, 9, 10};
    for (size_t i = 0; i < sizeof(seats) / sizeof(seats[0]); i++)
        seat_ranges_add(&ranges, seats[i]);
    seat_ranges_finish(&ranges);
    assert_str_equal(buf_str(&text), STR("1-3,7,9-10"));

    struct str rest = buf_str(&text);
    int64_t first, last;
    bool damaged = false;
    assert_true(seat_ranges_next(&rest, &first, &last, &damaged) && first == 1 && last == 3);
    assert_true(seat_ranges_next(&rest, &first, &last, &damaged) && first == 7 && last == 7);
    assert_true(seat_ranges_next(&rest, &first, &last, &damaged) && first == 9 && last == 10);
    assert_false(seat_ranges_next(&rest, &first, &last, &damaged));
    assert_false(damaged);
    static const char *const wrong[] = {"0", "5-3", "x", "1-", "-1", "1-2-3", ",1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        rest = str_from(wrong[i]);
        damaged = false;
        assert_false(seat_ranges_next(&rest, &first, &last, &damaged));
        assert_true(damaged);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),      cmocka_unit_test(test_a_recorder_that_died),
        cmocka_unit_test(test_damage_is_told_with_its_line), cmocka_unit_test(test_many_threads_append),
        cmocka_unit_test(test_a_disk_that_is_full_is_told),  cmocka_unit_test(test_seat_ranges),
    };
    return cmocka_run_group_tests(tests, check_make_path, check_remove_path);
}
