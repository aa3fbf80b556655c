#include "base/gzip_parts.h"
#include "base/random.h"
#include "test.h"

#include <stdlib.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };

static void assert_unpacks_to(struct str packed, struct str plain)
{
    char *text = malloc(plain.len + 1);
    z_stream stream = {.next_in = (unsigned char *)packed.ptr,
                       .avail_in = (unsigned)packed.len,
                       .next_out = (unsigned char *)text,
                       .avail_out = (unsigned)plain.len + 1};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK); /* gzip only; it checks sum and length */
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.avail_in, 0);
    assert_int_equal(stream.total_out, plain.len);
    assert_memory_equal(text, plain.ptr, plain.len);
    inflateEnd(&stream);
    free(text);
}

/* A file of these parts, of which the first and the last stay as they are. */
static void assert_packs(const struct str *parts, size_t count)
{
    struct buf plain = BUF_INIT(ROOM), packed = BUF_INIT(ROOM);
    struct gzip_sum sum = gzip_sum_of(parts[0]);
    gzip_begin(&packed, parts[0]);
    buf_add(&plain, parts[0]);
    for (size_t i = 1; i < count - 1; i++) {
        assert_true(gzip_part(&packed, parts[i]));
        sum = gzip_sum_join(sum, gzip_sum_of(parts[i]));
        buf_add(&plain, parts[i]);
    }
    buf_add(&plain, parts[count - 1]);
    gzip_end(&packed, parts[count - 1], gzip_sum_join(sum, gzip_sum_of(parts[count - 1])));
    assert_false(packed.failed || plain.failed);
    assert_unpacks_to(buf_str(&packed), buf_str(&plain));
    buf_free(&plain);
    buf_free(&packed);
}

static void test_parts_make_a_file(void **state)
{
    (void)state;
    static char noise[100000], text[100000];
    random_secret(noise, sizeof(noise));
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "{\"id\":17,\"name\":\"A-17\"},"[i % 24];
    struct str large = str_make(text, sizeof(text)), random = str_make(noise, sizeof(noise));
    assert_packs((const struct str[]){STR("["), STR("]")}, 2);
    assert_packs((const struct str[]){STR(""), STR("a"), STR("")}, 3);
    assert_packs((const struct str[]){STR("["), large, large, random, STR("x"), large, STR("]}")}, 7);
    assert_packs((const struct str[]){STR("["), random, large, STR("]}")}, 4); /* in any order */
}

static void test_no_room(void **state)
{
    (void)state;
    static char noise[10000];
    random_secret(noise, sizeof(noise));
    struct buf packed = BUF_INIT(1000);
    assert_false(gzip_part(&packed, str_make(noise, sizeof(noise))));
    assert_int_equal(packed.len, 0);
    buf_clear(&packed);
    assert_true(gzip_part(&packed, STR("the next one is fine")));
    buf_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_make_a_file),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests_name("gzip_parts", tests, NULL, NULL);
}
