/* Reading answers, waking at the right moment, keeping a run's course in bounded room. */
#include "base/clock.h"
#include "base/random.h"
#include "rehearse/answer.h"
#include "rehearse/timeline.h"
#include "rehearse/wake_heap.h"
#include "test.h"

#include <stdio.h>

#define SOLD_OUT_BODY "{\"success\":false,\"reason\":\"sold_out\",\"seat_id\":null,\"reserved_by\":\"u-1\"}"
static const char SOLD_OUT[] = "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nretry-after: 7\r\n"
                               "Content-Length: 72\r\n\r\n" SOLD_OUT_BODY;

static void test_an_answer_in_pieces(void **state)
{
    (void)state;
    struct answer answer;
    for (size_t length = 0; length < sizeof(SOLD_OUT) - 1; length++) {
        struct str bytes = str_make(SOLD_OUT, length);
        assert_int_equal(answer_read(bytes, false, &answer), ANSWER_MORE);
        assert_int_equal(answer_read(bytes, true, &answer), ANSWER_BROKEN);
    }
    assert_int_equal(answer_read(STR(SOLD_OUT), false, &answer), ANSWER_COMPLETE);
    assert_int_equal(answer.status, 409);
    assert_int_equal(answer.retry_after_s, 7);
    assert_false(answer.closes);
    assert_str_equal(answer.body, STR(SOLD_OUT_BODY));
    assert_int_equal(answer.length, sizeof(SOLD_OUT) - 1);
}

static void test_other_answers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool ended;
        enum answer_outcome outcome;
    } rows[] = {
        {"HTTP/1.1 304 Not Modified\r\nETag: \"1-2-3\"\r\n\r\n", false, ANSWER_COMPLETE},
        {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", false, ANSWER_COMPLETE},
        {"HTTP/1.0 200 OK\r\n\r\nall until the end", false, ANSWER_MORE},
        {"HTTP/1.0 200 OK\r\n\r\nall until the end", true, ANSWER_COMPLETE},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, ANSWER_BROKEN},
        {"HTTP/1.1 100 Continue\r\n\r\n", false, ANSWER_BROKEN},
        {"SSH-2.0-OpenSSH_9.2\r\n", false, ANSWER_BROKEN},
        {"HTTP/1.1 abc\r\n\r\n", false, ANSWER_BROKEN},
        {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false, ANSWER_BROKEN},
        {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", false, ANSWER_BROKEN},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer;
        if (answer_read(str_from(rows[i].text), rows[i].ended, &answer) != rows[i].outcome)
            fail_msg("%s", rows[i].text);
    }
}

static void test_verdicts(void **state)
{
    (void)state;
    struct arena arena;
    struct verdict verdict;
    arena_init(&arena, 1 << 16);
    assert_true(verdict_read(STR("{\"success\":true,\"seat\":{\"id\":5,\"name\":\"A-5\",\"status\":true},\"seat_id\":5,"
                                 "\"reserved_by\":\"u\",\"reason\":null,\"remainingSeats\":3,\"sequence\":42}"),
                             &arena, &verdict));
    assert_true(verdict.success && verdict.seat == 5 && verdict.sequence == 42 && verdict.remaining == 3);
    assert_null(verdict.reason.ptr);
    assert_true(verdict_read(STR("{\"success\":true,\"seat\":{\"id\":7},\"remainingSeats\":3}"), &arena, &verdict));
    assert_int_equal(verdict.seat, 7); /* given back */
    assert_true(verdict_read(STR("{\"success\":true,\"seat_id\":null,\"seat\":null}"), &arena, &verdict));
    assert_int_equal(verdict.seat, 0); /* none */
    assert_true(verdict_read(STR(SOLD_OUT_BODY), &arena, &verdict));
    assert_str_equal(verdict.reason, STR("sold_out"));
    assert_false(verdict_read(STR("<html>"), &arena, &verdict));
    arena_free(&arena);
}

static void add_seat(void *context, int64_t seat)
{
    buf_add_format(context, "%lld ", (long long)seat);
}

static void test_maps(void **state)
{
    (void)state;
    struct buf taken = BUF_INIT(256);
    int64_t generation, version;
    assert_int_equal(map_read(STR("{\"success\":true,\"seats\":[{\"id\":1,\"name\":\"A-1\",\"status\":true},"
                                  "{\"id\":2,\"name\":\"A-2\",\"status\":false},{\"id\":3,\"name\":\"A-3\","
                                  "\"status\":true}]}"),
                              add_seat, &taken),
                     3);
    assert_str_equal(buf_str(&taken), STR("1 3 "));
    assert_int_equal(map_read(STR("{\"success\":true,\"seats\":[]}"), add_seat, &taken), 0);
    assert_int_equal(map_read(STR("{\"success\":false}"), add_seat, &taken), -1);
    assert_int_equal(map_read(STR("{\"success\":true,\"seats\":[{\"id\":"), add_seat, &taken), -1);
    etag_read(STR("\"4-2-17\""), &generation, &version);
    assert_true(generation == 2 && version == 17);
    etag_read(STR("\"xyz\""), &generation, &version);
    assert_true(generation == -1 && version == -1);
    buf_free(&taken);
}

static void test_the_earliest_wakes_first(void **state)
{
    (void)state;
    static struct waker wakers[2000];
    struct wake_heap heap = {0};
    for (size_t i = 0; i < 2000; i++)
        assert_true(wake_heap_add(&heap, &wakers[i], (int64_t)random_below(1000)));
    for (size_t i = 0; i < 2000; i += 3)
        wake_heap_remove(&heap, &wakers[i]);
    int64_t last = -1;
    size_t woken = 0;
    for (struct waker *waker; (waker = wake_heap_first(&heap)); woken++) {
        assert_true(waker->at_ns >= last && (waker - wakers) % 3 != 0);
        last = waker->at_ns;
        wake_heap_remove(&heap, waker);
        wake_heap_remove(&heap, waker); /* gone already */
    }
    assert_int_equal(woken, 2000 - 667);
    wake_heap_free(&heap);
}

static void test_a_long_course_keeps_its_sums(void **state)
{
    (void)state;
    static struct timeline timeline;
    static struct tally tally;
    timeline_init(&timeline);
    tally_clear(&tally);
    for (size_t i = 0; i < 5000; i++) {
        tally.requests += 3;
        tally.answered += 2;
        histogram_add(&tally.latency[HISTORY_CLAIM], i == 2500 ? 777000000 : 1000);
        timeline_add(&timeline, &tally);
        assert_true(timeline.count <= TIMELINE_MAX);
    }
    timeline_finish(&timeline);
    uint64_t requests = 0, answered = 0, most = 0;
    for (size_t i = 0; i < timeline.count; i++) {
        requests += timeline.slices[i].requests;
        answered += timeline.slices[i].answered;
        most = timeline.slices[i].max > most ? timeline.slices[i].max : most;
    }
    assert_int_equal(requests, 15000);
    assert_int_equal(answered, 10000);
    assert_true(most > 770000000 && most < 785000000);
    assert_int_equal(timeline.slice_ns, 16 * TIMELINE_FIRST_SLICE_MS * NS_PER_MS);
}

static void test_reasons_are_bounded(void **state)
{
    (void)state;
    static struct tally tally, sum;
    tally_clear(&tally);
    tally_clear(&sum);
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "reason_%d", i);
        tally_count_reason(&tally, str_from(name));
        tally_count_reason(&tally, STR("reason_0"));
    }
    tally_merge(&sum, &tally);
    tally_merge(&sum, &tally);
    assert_int_equal(sum.reason_count, TALLY_REASONS_MAX);
    assert_int_equal(tally_reason_count(&sum, STR("reason_0")), 202);
    assert_int_equal(tally_reason_count(&sum, STR("others")), 2 * (100 - TALLY_REASONS_MAX + 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_in_pieces),
        cmocka_unit_test(test_other_answers),
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_the_earliest_wakes_first),
        cmocka_unit_test(test_a_long_course_keeps_its_sums),
        cmocka_unit_test(test_reasons_are_bounded),
    };
    return cmocka_run_group_tests_name("rehearse_answer", tests, NULL, NULL);
}
