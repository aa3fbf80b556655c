#include "base/json_write.h"
#include "test.h"

#include <stdlib.h>

static struct buf out = BUF_INIT(1 << 20);

static struct json_writer fresh(void)
{
    buf_clear(&out);
    return json_write_to(&out);
}

static void test_commas(void **state)
{
    (void)state;
    struct json_writer w = fresh();
    json_begin_object(&w);
    json_member_bool(&w, "success", true);
    json_member_object(&w, "seat");
    json_member_int(&w, "id", 5);
    json_member_string(&w, "name", STR("A-5"));
    json_end_object(&w);
    json_member_null(&w, "reason");
    json_member_array(&w, "left");
    json_int(&w, INT64_MIN);
    json_uint(&w, UINT64_MAX);
    json_bool(&w, false);
    json_begin_array(&w);
    json_end_array(&w);
    json_begin_object(&w);
    json_end_object(&w);
    json_end_array(&w);
    json_member_raw(&w, "raw", STR("[1]"));
    json_member_string_or_null(&w, "nobody", (struct str){0});
    json_member_string_or_null(&w, "empty", STR(""));
    json_end_object(&w);
    assert_str_equal(buf_str(&out), STR("{\"success\":true,\"seat\":{\"id\":5,\"name\":\"A-5\"},\"reason\":null,"
                                        "\"left\":[-9223372036854775808,18446744073709551615,false,[],{}],"
                                        "\"raw\":[1],\"nobody\":null,\"empty\":\"\"}"));
}

static struct str written(struct str text)
{
    struct json_writer w = fresh();
    json_string(&w, text);
    return buf_str(&out);
}

static void test_escapes(void **state)
{
    (void)state;
    assert_str_equal(written(STR("")), STR("\"\""));
    assert_str_equal(written(STR("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f")),
                     STR("\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\""));
    assert_str_equal(written(STR("nul\0nul")), STR("\"nul\\u0000nul\""));
    assert_str_equal(written(STR("입장권 🎫")), STR("\"입장권 🎫\""));
    assert_str_equal(written(STR("입\n장\xff권\"\"표 x\x80")),
                     STR("\"입\\n장\xEF\xBF\xBD권\\\"\\\"표 x\xEF\xBF\xBD\""));
}

static void test_what_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    assert_str_equal(written(STR("a\xff"
                                 "b")),
                     STR("\"a\xEF\xBF\xBD"
                         "b\""));
    assert_str_equal(written(STR("\xc0\x80")), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\""));
    assert_str_equal(written(STR("\xed\xa0\x80")), STR("\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""));
    assert_str_equal(written(STR("cut \xed\x95")), STR("\"cut \xEF\xBF\xBD\xEF\xBF\xBD\""));
}

/* A special character is found wherever it stands among the eight bytes that are
 * looked at together, and every byte that is none is passed on. */
static void test_every_byte_at_every_place(void **state)
{
    (void)state;
    for (unsigned c = 1; c < 128; c++)
        for (size_t place = 0; place < 20; place++) {
            char text[20];
            memset(text, 'x', sizeof(text));
            text[place] = (char)c;
            size_t expected = sizeof(text) + 2;
            if (c == '"' || c == '\\' || c == '\b' || c == '\f' || c == '\n' || c == '\r' || c == '\t')
                expected += 1;
            else if (c < 0x20)
                expected += 5;
            assert_int_equal(written(str_make(text, sizeof(text))).len, expected);
        }
}

static void test_full_buffer_is_told_at_the_end(void **state)
{
    (void)state;
    static const char whole[] = "{\"text\":\"quote \\\" and 입장권\",\"number\":12345}";
    for (size_t max = 0; max < sizeof(whole) - 1; max++) {
        struct buf small = BUF_INIT(max);
        struct json_writer w = json_write_to(&small);
        json_begin_object(&w);
        json_member_string(&w, "text", STR("quote \" and 입장권"));
        json_member_int(&w, "number", 12345);
        json_end_object(&w);
        assert_true(small.len <= max);
        assert_true(small.failed);
        buf_free(&small);
    }
}

static int free_out(void **state)
{
    (void)state;
    buf_free(&out);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_what_is_not_utf8_is_replaced),
        cmocka_unit_test(test_every_byte_at_every_place),
        cmocka_unit_test(test_full_buffer_is_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, free_out);
}
