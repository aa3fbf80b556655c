#include "base/gzip.h"
#include "base/random.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <zlib.h>

enum { LARGE = 1 << 20 };

/* What zlib reads back must be `plain`, and nothing may be left over. */
static void assert_unpacks_to(struct str packed, struct str plain)
{
    char *text = malloc(plain.len + 1);
    z_stream stream = {.next_in = (unsigned char *)packed.ptr,
                       .avail_in = (unsigned)packed.len,
                       .next_out = (unsigned char *)text,
                       .avail_out = (unsigned)plain.len + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip only */
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, plain.len);
    assert_memory_equal(text, plain.ptr, plain.len);
    inflateEnd(&stream);
    free(text);
}

static void assert_packs(struct str plain, struct buf *packed)
{
    assert_true(gzip_compress(plain, packed));
    assert_unpacks_to(buf_str(packed), plain);
}

static char *repetitive_text(void)
{
    char *text = malloc(LARGE);
    for (int i = 0; i < LARGE; i++)
        text[i] = "{\"seat\":\"A-1\"},"[i % 15];
    return text;
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    struct buf packed = BUF_INIT(2 * LARGE);
    char *text = repetitive_text();
    char *noise = malloc(LARGE);
    random_secret(noise, LARGE);
    for (int i = 0; i < 3; i++) { /* the state is used again, after any kind of data */
        assert_packs(STR("a"), &packed);
        assert_packs(str_make(text, LARGE), &packed);
        assert_true(packed.len < LARGE / 50);
        assert_packs(str_make(noise, LARGE), &packed);
        assert_packs(STR(""), &packed);
    }
    free(text);
    free(noise);
    buf_free(&packed);
}

static void test_no_room(void **state)
{
    (void)state;
    struct buf packed = BUF_INIT(1000);
    char *text = repetitive_text();
    assert_false(gzip_compress(str_make(text, LARGE), &packed));
    assert_int_equal(packed.len, 0);
    assert_packs(STR("the next one is fine"), &packed);
    free(text);
    buf_free(&packed);
}

static void *pack_often(void *argument)
{
    struct buf packed = BUF_INIT(2 * LARGE);
    for (size_t i = 1; i < 200; i++)
        assert_packs(str_make(argument, i * 37), &packed);
    buf_free(&packed);
    return NULL;
}

static void test_threads_do_not_share(void **state)
{
    (void)state;
    char *text = repetitive_text();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pack_often, text), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_threads_do_not_share),
    };
    return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
