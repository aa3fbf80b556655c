#include "base/base64.h"
#include "test.h"

/* RFC 4648, section 10, and one that needs the last two letters. */
static void test_known_texts(void **state)
{
    (void)state;
    static const struct {
        struct str bytes, standard, url;
    } cases[] = {
        {STR_INIT(""), STR_INIT(""), STR_INIT("")},
        {STR_INIT("f"), STR_INIT("Zg=="), STR_INIT("Zg")},
        {STR_INIT("fo"), STR_INIT("Zm8="), STR_INIT("Zm8")},
        {STR_INIT("foo"), STR_INIT("Zm9v"), STR_INIT("Zm9v")},
        {STR_INIT("foob"), STR_INIT("Zm9vYg=="), STR_INIT("Zm9vYg")},
        {STR_INIT("fooba"), STR_INIT("Zm9vYmE="), STR_INIT("Zm9vYmE")},
        {STR_INIT("foobar"), STR_INIT("Zm9vYmFy"), STR_INIT("Zm9vYmFy")},
        {STR_INIT("\xfb\xff\xbf\0"), STR_INIT("+/+/AA=="), STR_INIT("-_-_AA")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (enum base64_kind kind = BASE64_STANDARD; kind <= BASE64_URL; kind++) {
            struct str text = kind == BASE64_URL ? cases[i].url : cases[i].standard, bytes = cases[i].bytes;
            char out[16], back[16];
            size_t size;
            assert_int_equal(base64_length(kind, bytes.len), text.len);
            base64_write(kind, bytes.ptr, bytes.len, out);
            assert_str_equal(str_make(out, text.len), text);
            assert_true(base64_read(kind, text, back, &size));
            assert_str_equal(str_make(back, size), bytes);
            assert_in_range(size, 0, base64_room(text.len));
        }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static const struct {
        enum base64_kind kind;
        struct str text;
    } cases[] = {
        {BASE64_STANDARD, STR_INIT("Zg")},    {BASE64_STANDARD, STR_INIT("Zg=")},
        {BASE64_STANDARD, STR_INIT("Zg===")}, {BASE64_STANDARD, STR_INIT("Zh==")},
        {BASE64_STANDARD, STR_INIT("Zm9=")},  {BASE64_STANDARD, STR_INIT("Z===")},
        {BASE64_STANDARD, STR_INIT("====")},  {BASE64_STANDARD, STR_INIT("Zg==Zg==")},
        {BASE64_STANDARD, STR_INIT("Zm9\n")}, {BASE64_STANDARD, STR_INIT("-_-_")},
        {BASE64_STANDARD, STR_INIT(" Zm9")},  {BASE64_STANDARD, STR_INIT("Zm\0v")},
        {BASE64_URL, STR_INIT("Zg==")},       {BASE64_URL, STR_INIT("Zh")},
        {BASE64_URL, STR_INIT("Zm9")},        {BASE64_URL, STR_INIT("Z")},
        {BASE64_URL, STR_INIT("Zm9vY")},      {BASE64_URL, STR_INIT("+/+/")},
        {BASE64_URL, STR_INIT("Zm9\xc3")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[16];
        size_t size;
        if (base64_read(cases[i].kind, cases[i].text, out, &size))
            fail_msg("accepted '%.*s'", STR_ARG(cases[i].text));
    }
}

/* Every byte, at every place of a group and of what is left over: it is a letter, or the text is refused. */
static void test_every_letter(void **state)
{
    (void)state;
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (size_t place = 0; place < 6; place++)
        for (int c = 0; c < 256; c++) {
            char text[6] = "AAAAAA", again[6];
            uint8_t bytes[6];
            size_t size;
            const char *letter = c ? strchr(url, c) : NULL;
            bool left_over = place == 5 && letter && (letter - url) % 16; /* bits that are in no byte */
            text[place] = (char)c;
            assert_int_equal(base64_read(BASE64_URL, str_make(text, 6), bytes, &size), letter && !left_over);
            if (!letter || left_over)
                continue;
            assert_int_equal(size, 4);
            base64_write(BASE64_URL, bytes, size, again);
            assert_memory_equal(again, text, 6);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_texts),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_every_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
