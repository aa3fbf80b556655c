#include "base/json_read.h"
#include "test.h"

struct ticket {
    int64_t price;
    struct str label;
};

struct body {
    struct str name;
    struct str phone;
    int64_t count;
    int64_t any;
    bool has_count;
    bool agree;
    struct json_ints seats;
    struct json_strings tags;
    struct ticket first;
    struct json_objects tickets;
};

static const struct json_field ticket_fields[] = {
    JSON_FIELD(struct ticket, price, "price", .required = true, .min = 0, .max = 1000),
    JSON_FIELD(struct ticket, label, "label", .max = 8),
};
static const struct json_descriptor ticket_descriptor = JSON_DESCRIPTOR(struct ticket, ticket_fields);

static const struct json_field body_fields[] = {
    JSON_FIELD(struct body, name, "userName", .alias = "user_name", .max = 16),
    JSON_FIELD(struct body, phone, "phone", .min = 3, .max = 8),
    JSON_FIELD(struct body, count, "count", .min = -5, .max = 10, .present = JSON_PRESENT(struct body, has_count)),
    JSON_FIELD(struct body, any, "any"),
    JSON_FIELD(struct body, agree, "agree"),
    JSON_FIELD(struct body, seats, "seats", .max_items = 5, .min = 1, .max = 100),
    JSON_FIELD(struct body, tags, "tags", .min_items = 1, .max_items = 2, .max = 4),
    JSON_FIELD_OBJECT(struct body, first, "first", &ticket_descriptor),
    JSON_FIELD_OBJECTS(struct body, tickets, "tickets", &ticket_descriptor, .max_items = 6),
};
static const struct json_descriptor body_descriptor = JSON_DESCRIPTOR(struct body, body_fields);

static struct arena arena;
static struct body body;
static struct json_problem problem;

static bool read_text(struct str text)
{
    arena_reset(&arena);
    body = (struct body){.count = 7};
    problem = (struct json_problem){0};
    return json_read(text, &body_descriptor, &body, &arena, &problem);
}

#define READ(literal) read_text(STR(literal))

#define assert_problem(name, sentence)                                                                                 \
    do {                                                                                                               \
        assert_str_equal(problem.field, STR(name));                                                                    \
        assert_string_equal(arena_c_string(&arena, problem.message), (sentence));                                      \
    } while (0)

static void test_all_types(void **state)
{
    (void)state;
    assert_true(READ(" {\"userName\" : \"Alice\" ,\"phone\":\"\\u0030\\ud83c\\udfab\",\"count\":-5,\"any\":"
                     "-9223372036854775808,\r\n\t\"agree\":true,\"seats\":[1,2,3,100,5],\"tags\":[\"a\",\"\\\"\"],"
                     "\"first\":{\"price\":0},\"tickets\":[{\"price\":1,\"label\":\"x\"},{\"label\":null,\"price\":2},"
                     "{\"price\":3},{\"price\":4},{\"price\":5}]} "));
    assert_str_equal(body.name, STR("Alice"));
    assert_str_equal(body.phone, STR("0🎫"));
    assert_int_equal(body.count, -5);
    assert_true(body.has_count);
    assert_true(body.any == INT64_MIN);
    assert_true(body.agree);
    assert_int_equal(body.seats.count, 5);
    assert_int_equal(body.seats.items[3], 100);
    assert_int_equal(body.seats.items[4], 5);
    assert_int_equal(body.tags.count, 2);
    assert_str_equal(body.tags.items[1], STR("\""));
    assert_int_equal(body.tickets.count, 5);
    struct ticket *tickets = body.tickets.items;
    assert_str_equal(tickets[0].label, STR("x"));
    assert_null(tickets[1].label.ptr);
    assert_int_equal(tickets[4].price, 5);
}

static void test_absent_and_null(void **state)
{
    (void)state;
    assert_true(READ("{}"));
    assert_int_equal(body.count, 7);
    assert_false(body.has_count);
    assert_null(body.name.ptr);
    assert_true(READ("{\"count\":null,\"userName\":null,\"seats\":null,\"first\":null}"));
    assert_int_equal(body.count, 7);
    assert_false(body.has_count);
    assert_null(body.name.ptr);
    assert_true(READ("{\"userName\":\"\",\"seats\":[]}"));
    assert_non_null(body.name.ptr);
    assert_int_equal(body.name.len, 0);
    assert_int_equal(body.seats.count, 0);
}

static void test_strings_without_escapes_are_not_copied(void **state)
{
    (void)state;
    static const char text[] = "{\"user_name\":\"김철수\"}";
    assert_true(read_text(str_from(text)));
    assert_ptr_equal(body.name.ptr, text + 14);
    assert_str_equal(body.name, STR("김철수"));
    assert_null(arena.block);
}

static void test_problems_name_the_field(void **state)
{
    (void)state;
    assert_false(READ("{\"phone\":\"12\"}"));
    assert_problem("phone", "phone must be a string of 3 to 8 bytes.");
    assert_false(READ("{\"user_name\":\"12345678901234567\"}"));
    assert_problem("userName", "userName must be a string of at most 16 bytes.");
    assert_false(READ("{\"count\":11}"));
    assert_problem("count", "count must be an integer from -5 to 10.");
    assert_false(READ("{\"count\":1.0}"));
    assert_problem("count", "count must be an integer from -5 to 10.");
    assert_false(READ("{\"any\":\"1\"}"));
    assert_problem("any", "any must be an integer.");
    assert_false(READ("{\"agree\":1}"));
    assert_problem("agree", "agree must be true or false.");
    assert_false(READ("{\"seats\":[1,2,3,4,5,6]}"));
    assert_problem("seats", "seats must be an array of at most 5 integers.");
    assert_false(READ("{\"seats\":[1,101]}"));
    assert_problem("seats[1]", "seats[1] must be an integer from 1 to 100.");
    assert_false(READ("{\"tags\":[]}"));
    assert_problem("tags", "tags must be an array of 1 to 2 strings.");
    assert_false(READ("{\"tags\":[\"long!\"]}"));
    assert_problem("tags[0]", "tags[0] must be a string of at most 4 bytes.");
    assert_false(READ("{\"first\":[]}"));
    assert_problem("first", "first must be an object.");
    assert_false(READ("{\"first\":{}}"));
    assert_problem("first.price", "first.price is missing.");
    assert_false(READ("{\"first\":{\"price\":null}}"));
    assert_problem("first.price", "first.price must be an integer from 0 to 1000.");
    assert_false(READ("{\"tickets\":[{\"price\":1},{\"price\":2,\"label\":true}]}"));
    assert_problem("tickets[1].label", "tickets[1].label must be a string of at most 8 bytes.");
    assert_false(READ("{\"tickets\":[{\"price\":1},2]}"));
    assert_problem("tickets[1]", "tickets[1] must be an object.");
    assert_false(READ("{\"tickets\":{}}"));
    assert_problem("tickets", "tickets must be an array of at most 6 objects.");
    assert_false(READ("{\"userName\":\"a\",\"user_name\":\"b\"}"));
    assert_problem("userName", "userName is given twice.");
    assert_false(READ("{\"first\":{\"price\":1,\"\\u0070rice\":1}}"));
    assert_problem("first.price", "first.price is given twice.");
    assert_false(READ("{\"a\":tru}"));
    assert_problem("", "The body is not JSON that can be read: a value is expected at byte 5.");
}

static void assert_refused(struct str text)
{
    if (read_text(text))
        fail_msg("accepted: %.*s", STR_ARG(text));
    assert_true(problem.message.len > 0);
}

static void test_refused_bodies(void **state)
{
    (void)state;
    static const struct str bodies[] = {
        STR_INIT(""),
        STR_INIT("  "),
        STR_INIT("[]"),
        STR_INIT("null"),
        STR_INIT("\"x\""),
        STR_INIT("{"),
        STR_INIT("{}x"),
        STR_INIT("{}{}"),
        STR_INIT("{}\0"),
        STR_INIT("\xEF\xBB\xBF{}"),
        STR_INIT("{,}"),
        STR_INIT("{\"x\"}"),
        STR_INIT("{\"x\":}"),
        STR_INIT("{x:1}"),
        STR_INIT("{'x':1}"),
        STR_INIT("{\"x\":1}/**/"),
        STR_INIT("{\"x\":\"\\"),
        STR_INIT("{\"\\u0000\":1}"),
        STR_INIT("{\"x\xff\":1}"),
        STR_INIT("{\"x\":1,\"x\":1}"),
        STR_INIT("{\"x\":1,\"\\u0078\":1}"),
        STR_INIT("{\"y\":{\"x\":1,\"x\":1}}"),
        STR_INIT("{\"y\":[{\"x\":1,\"z\":2,\"x\":1}]}"),
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        assert_refused(bodies[i]);
}

/* As the value of a field that nobody wants, of a number and of a string. */
static void test_refused_values(void **state)
{
    (void)state;
    static const struct str values[] = {
        STR_INIT("1,"),
        STR_INIT("1 \"y\":1"),
        STR_INIT("[1,]"),
        STR_INIT("[,1]"),
        STR_INIT("[1 2]"),
        STR_INIT("[1"),
        STR_INIT("["),
        STR_INIT("NaN"),
        STR_INIT("Infinity"),
        STR_INIT("nul"),
        STR_INIT("nullx"),
        STR_INIT("True"),
        STR_INIT("\""),
        STR_INIT("\"\\\""),
        STR_INIT("\"\\x\""),
        STR_INIT("\"\t\""),
        STR_INIT("\"\0\""),
        STR_INIT("\"\\u0000\""),
        STR_INIT("\"\\u12\""),
        STR_INIT("\"\\u12g4\""),
        STR_INIT("\"\\ud800\""),
        STR_INIT("\"\\udc00\""),
        STR_INIT("\"\\ud800\\u0041\""),
        STR_INIT("\"\\ud800\\ud800\""),
        STR_INIT("\"\\ud800x\""),
        STR_INIT("\"\\udc00\\udc00\""),
        STR_INIT("\"\xff\""),
        STR_INIT("\"\xc0\xaf\""),
        STR_INIT("\"\xed\xa0\x80\""),
        STR_INIT("\"\xf4\x90\x80\x80\""),
        STR_INIT("\"\xed\x95\""),
        STR_INIT("01"),
        STR_INIT("-01"),
        STR_INIT("00"),
        STR_INIT("+1"),
        STR_INIT("-"),
        STR_INIT(".5"),
        STR_INIT("5."),
        STR_INIT("5.e1"),
        STR_INIT("1e"),
        STR_INIT("1e+"),
        STR_INIT("0x10"),
        STR_INIT("9223372036854775808"),
        STR_INIT("-9223372036854775809"),
        STR_INIT("1e309"),
        STR_INIT("1.8e308"),
        STR_INIT("-18e307"),
        STR_INIT("-1e99999999999999999999"),
    };
    static const char *const keys[] = {"unknown", "any", "phone"};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        for (size_t k = 0; k < 3; k++) {
            struct buf text = BUF_INIT(256);
            buf_add_format(&text, "{\"%s\":", keys[k]);
            buf_add(&text, values[i]);
            buf_add_char(&text, '}');
            assert_refused(buf_str(&text));
            buf_free(&text);
        }
}

static void test_accepted_though_unwanted(void **state)
{
    (void)state;
    assert_true(
        READ("{\"x\":{\"x\":[{\"x\":1.5e-3,\"y\":[[],{}]},\"\\ud83c\\udfab\\/\",-0,1E+2,0.0]},\"y\":{\"x\":1}}"));
    assert_true(READ("{\"x\":1e-99999,\"\":0,\"z\":1e307}"));
    assert_true(READ("{\"x\":1.7976931348623157e+308,\"y\":-17976931348623157e292}"));
}

static struct str repeat(const char *before, const char *part, const char *after, size_t count)
{
    struct buf text = BUF_INIT(1 << 20);
    buf_add(&text, str_from(before));
    for (size_t i = 0; i < count; i++)
        buf_add(&text, str_from(part));
    buf_add(&text, str_from(after));
    static struct arena texts = {.limit = 1 << 22};
    arena_reset(&texts);
    struct str copy = arena_copy(&texts, buf_str(&text));
    buf_free(&text);
    return copy;
}

static void test_bounds(void **state)
{
    (void)state;
    assert_true(READ("{\"x\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]}"));
    assert_false(READ("{\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}"));
    assert_true(str_contains(problem.message, STR("nesting is too deep")));
    assert_false(read_text(repeat("{\"x\":", "[", "", 100000)));
    assert_false(read_text(repeat("", "{\"x\":", "", 100000)));
    assert_true(read_text(repeat("{\"x\":[1", ",1", "]}", JSON_MAX_VALUES - 2)));
    assert_false(read_text(repeat("{\"x\":[1", ",1", "]}", JSON_MAX_VALUES - 1)));
    assert_true(str_contains(problem.message, STR("too many values")));

    for (size_t count = JSON_MAX_UNKNOWN; count <= JSON_MAX_UNKNOWN + 1; count++) {
        struct buf text = BUF_INIT(1 << 16);
        for (size_t i = 0; i < count; i++)
            buf_add_format(&text, "%c\"key%zu\":{\"a\":1}", i ? ',' : '{', i);
        buf_add_char(&text, '}');
        assert_int_equal(read_text(buf_str(&text)), count == JSON_MAX_UNKNOWN);
        buf_free(&text);
    }
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_strings_without_escapes_are_not_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_types, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent_and_null, setup, teardown),
        cmocka_unit_test_setup_teardown(test_problems_name_the_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_bodies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused_values, setup, teardown),
        cmocka_unit_test_setup_teardown(test_accepted_though_unwanted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
