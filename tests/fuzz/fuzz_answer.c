/*
 * What a rehearsal reads from a server, which may be any. For every input
 *   - an answer that is complete in a part of the bytes is the same answer in all of them,
 *   - body and length lie within the bytes,
 *   - a seat map names no more taken seats than it has seats.
 */
#include "rehearse/answer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void count_seat(void *context, int64_t seat)
{
    (void)seat;
    ++*(int64_t *)context;
}

static void check_body(struct str body)
{
    struct arena arena;
    struct verdict verdict;
    int64_t taken = 0, seats = map_read(body, count_seat, &taken);
    expect(seats >= -1 && (seats < 0 || taken <= seats));
    arena_init(&arena, 64 * body.len + 65536);
    if (verdict_read(body, &arena, &verdict) && verdict.reason.ptr)
        expect(str_is_utf8(verdict.reason));
    arena_free(&arena);
}

static void check_answer(struct str bytes, size_t split)
{
    struct answer whole, part;
    int64_t generation, version;
    enum answer_outcome outcome = answer_read(bytes, false, &whole);
    if (answer_read(str_first(bytes, split), false, &part) == ANSWER_COMPLETE)
        expect(outcome == ANSWER_COMPLETE && whole.status == part.status && whole.length == part.length);
    if (outcome != ANSWER_COMPLETE)
        return;
    expect(whole.length <= bytes.len && whole.body.len <= whole.length && whole.status >= 200);
    etag_read(whole.etag, &generation, &version);
    expect((generation == -1) == (version == -1) || str_contains(whole.etag, STR("-1")));
    check_body(whole.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1);
    expect(exact != NULL);
    memcpy(exact, data, size);
    check_answer(str_make(exact, size), size ? data[0] % size : 0);
    check_answer(str_make(exact, size), size / 2);
    check_body(str_make(exact, size));
    free(exact);
    return 0;
}
