#include "base/arena.h"
#include "base/random.h"
#include "test.h"

#include <setjmp.h>

static bool is_filled(const char *bytes, char with, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != with)
            return false;
    return true;
}

/* Pieces of all sizes stay apart, aligned and as they were written. */
static void test_pieces_are_separate(void **state)
{
    (void)state;
    enum { PIECES = 2000 };
    static char *pieces[PIECES];
    static size_t sizes[PIECES];
    struct arena arena;
    arena_init(&arena, 64 << 20);
    for (int i = 0; i < PIECES; i++) {
        sizes[i] = (size_t)random_below(i % 100 == 0 ? 20000 : 100);
        if (i % 2) {
            pieces[i] = arena_alloc(&arena, sizes[i]);
            assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
            assert_true(is_filled(pieces[i], 0, sizes[i]));
        } else {
            pieces[i] = arena_bytes(&arena, sizes[i]);
        }
        memset(pieces[i], i % 127, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
        assert_true(is_filled(pieces[i], (char)(i % 127), sizes[i]));
    arena_free(&arena);
}

static void test_reset_keeps_one_block(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    char *first = arena_alloc(&arena, 100);
    memset(first, 'x', 100);
    arena_alloc(&arena, 100000);
    size_t large = arena.total;
    arena_reset(&arena);
    assert_true(arena.total < large);
    char *again = arena_alloc(&arena, 100);
    assert_ptr_equal(again, first);
    assert_true(is_filled(again, 0, 100)); /* zeroed although used before */
    arena_free(&arena);
    assert_int_equal(arena.total, 0);
    arena_reset(&arena); /* nothing to reset */
    assert_non_null(arena_alloc(&arena, 1));
    arena_free(&arena);
}

static void test_text(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 1 << 20);
    struct str copy = arena_copy(&arena, STR("a\0b"));
    assert_str_equal(copy, STR("a\0b"));
    assert_str_equal(arena_copy(&arena, str_make(NULL, 0)), STR(""));
    assert_string_equal(arena_c_string(&arena, str_make("hello!", 5)), "hello");
    assert_string_equal(arena_c_string(&arena, str_make(NULL, 0)), "");
    assert_str_equal(arena_format(&arena, "%s-%03d", "seat", 7), STR("seat-007"));
    assert_str_equal(ARENA_JOIN(&arena, STR("a\0b"), str_make(NULL, 0), STR(""), STR("c")), STR("a\0bc"));
    assert_str_equal(ARENA_JOIN(&arena, str_make(NULL, 0)), STR(""));
    assert_str_equal(arena_format(&arena, "%5000d", 1), arena_format(&arena, "%5000d", 1));
    arena_free(&arena);
}

static jmp_buf out;
static void *exhausted_with;

static void leave(void *context)
{
    exhausted_with = context;
    longjmp(out, 1);
}

static void take_pieces(struct arena *arena)
{
    for (;;)
        arena_alloc(arena, 1000);
}

static void take_too_large(struct arena *arena)
{
    arena_alloc(arena, arena->limit + 1);
}

static void take_overflowing_array(struct arena *arena)
{
    arena_alloc_array(arena, SIZE_MAX / 2, 4);
}

static void take_largest(struct arena *arena)
{
    arena_alloc(arena, SIZE_MAX);
}

static void take_format(struct arena *arena)
{
    arena_format(arena, "%200000d", 1);
}

/* Every way past the limit ends in the callback, which leaves; the arena can be used on. */
static void test_exhaustion_leaves_by_the_callback(void **state)
{
    (void)state;
    void (*const ways[])(struct arena *) = {take_pieces, take_too_large, take_overflowing_array, take_largest,
                                            take_format};
    int context;
    for (volatile size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct arena arena;
        arena_init(&arena, 100000);
        arena.exhausted = leave;
        arena.context = &context;
        exhausted_with = NULL;
        if (setjmp(out) == 0) {
            ways[i](&arena);
            fail_msg("way %zu came back", i);
        }
        assert_ptr_equal(exhausted_with, &context);
        assert_true(arena.total <= 100000);
        arena_reset(&arena);
        assert_non_null(arena_alloc(&arena, 100));
        arena_free(&arena);
    }
}

/* The limit is of use to its last byte. */
static void test_the_whole_limit_can_be_used(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, 10000);
    if (setjmp(out) == 0) {
        arena.exhausted = leave;
        char *bytes = arena_bytes(&arena, 10000);
        memset(bytes, 'x', 10000);
    } else {
        fail_msg("exhausted too early");
    }
    if (setjmp(out) == 0) {
        arena_bytes(&arena, 1);
        fail_msg("one byte past the limit");
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_separate),
        cmocka_unit_test(test_reset_keeps_one_block),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_exhaustion_leaves_by_the_callback),
        cmocka_unit_test(test_the_whole_limit_can_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
