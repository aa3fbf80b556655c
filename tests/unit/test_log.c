/* Log lines as they arrive on standard error, which a pipe catches: one line each and valid JSON, whatever is in them.
 */
#include "base/json_read.h"
#include "base/log.h"
#include "base/random.h"
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int caught; /* the pipe's reading end */
static int real_stderr;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
        return 1;
    real_stderr = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    caught = ends[0];
    arena_init(&arena, 1 << 20);
    log_setup(LOG_INFO, LOG_JSON);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dup2(real_stderr, STDERR_FILENO);
    close(real_stderr);
    close(caught);
    arena_free(&arena);
    log_set_trace(STR(""));
    return 0;
}

/* All that was logged since the last call. */
static struct str catch_lines(void)
{
    static char bytes[1 << 20];
    size_t length = 0;
    ssize_t got;
    while (length < sizeof(bytes) && (got = read(caught, bytes + length, sizeof(bytes) - length)) > 0)
        length += (size_t)got;
    return str_make(bytes, length);
}

struct line {
    struct str time, level, message, trace, text;
    int64_t number;
};

static struct line parse_line(struct str line)
{
    static const struct json_field fields[] = {
        JSON_FIELD(struct line, time, "time", .required = true, .min = 24, .max = 24),
        JSON_FIELD(struct line, level, "level", .required = true, .min = 4, .max = 5),
        JSON_FIELD(struct line, message, "message", .required = true, .max = 100),
        JSON_FIELD(struct line, trace, "traceId", .max = 100),
        JSON_FIELD(struct line, text, "text", .max = 10000),
        JSON_FIELD(struct line, number, "number"),
    };
    static const struct json_descriptor descriptor = JSON_DESCRIPTOR(struct line, fields);
    struct line parsed = {0};
    struct json_problem problem;
    if (!json_read(line, &descriptor, &parsed, &arena, &problem))
        fail_msg("%.*s: %.*s", STR_ARG(line), STR_ARG(problem.message));
    return parsed;
}

static struct str single_line(void)
{
    struct str line = catch_lines();
    assert_true(line.len > 0);
    assert_int_equal(str_find_char(line, '\n'), line.len - 1);
    return str_first(line, line.len - 1);
}

static void test_a_line(void **state)
{
    (void)state;
    log_set_trace(STR("0123abcd"));
    log_warn("request failed", LOG_STR("text", STR("/shows/서울")), LOG_INT("number", INT64_MIN));
    struct line line = parse_line(single_line());
    assert_str_equal(line.level, STR("warn"));
    assert_str_equal(line.message, STR("request failed"));
    assert_str_equal(line.trace, STR("0123abcd"));
    assert_str_equal(line.text, STR("/shows/서울"));
    assert_true(line.number == INT64_MIN);
    log_info("no fields");
    assert_str_equal(parse_line(single_line()).message, STR("no fields"));
    log_info("no text", LOG_C("text", NULL));
    assert_str_equal(parse_line(single_line()).text, STR(""));
}

static void assert_printable(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        assert_true((unsigned char)line.ptr[i] >= 0x20 && line.ptr[i] != 0x7f);
    assert_true(str_is_utf8(line));
}

static void test_hostile_bytes(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; byte++) {
        char text[] = {'<', (char)byte, '>'};
        log_set_trace(str_make(text, 3));
        log_info("hostile", LOG_STR("text", str_make(text, 3)));
        struct str line = single_line();
        assert_printable(line);
        struct str back = parse_line(line).text;
        assert_str_equal(back, byte < 0x80 ? str_make(text, 3) : STR("<?>"));
        arena_reset(&arena);
    }
    log_set_trace(STR(""));
    for (int round = 0; round < 2000; round++) {
        char text[64];
        size_t length = (size_t)random_below(sizeof(text));
        for (size_t i = 0; i < length; i++)
            text[i] = (char)(1 + random_below(255));
        log_info("hostile", LOG_STR("text", str_make(text, length)));
        struct str line = single_line();
        assert_printable(line);
        parse_line(line);
        arena_reset(&arena);
    }
    log_info("NUL", LOG_STR("text", STR("a\0b"))); /* JSON can say it, json_read does not take it */
    assert_true(str_contains(single_line(), STR("\"text\":\"a\\u0000b\"")));
}

static void test_text_lines(void **state)
{
    (void)state;
    log_setup(LOG_INFO, LOG_TEXT);
    log_set_trace(STR("trace\n\x1b[2J"));
    log_error("something broke", LOG_STR("path", STR("/a\r\n\x1b[31m\xff")), LOG_INT("status", 500));
    struct str line = single_line();
    assert_printable(line);
    assert_true(str_contains(line, STR("error something broke  path=/a\\u000d\\u000a")));
    assert_true(str_contains(line, STR("status=500")));
}

static void test_too_long_a_line_keeps_its_message(void **state)
{
    (void)state;
    static char much[20000];
    memset(much, '"', sizeof(much));
    log_info("much", LOG_STR("text", str_make(much, sizeof(much))), LOG_INT("number", 1));
    struct line line = parse_line(single_line());
    assert_str_equal(line.message, STR("much"));
    assert_null(line.text.ptr);
}

static void test_levels(void **state)
{
    (void)state;
    enum log_level level;
    assert_true(log_level_from(STR("WARN"), &level) && level == LOG_WARN);
    assert_true(log_level_from(STR("off"), &level) && level == LOG_OFF);
    assert_false(log_level_from(STR("loud"), &level));
    assert_false(log_level_from(STR(""), &level));

    log_setup(LOG_WARN, LOG_JSON);
    log_debug("no");
    log_info("no");
    assert_int_equal(catch_lines().len, 0);
    log_warn("yes");
    log_error("yes");
    assert_true(catch_lines().len > 0);
    log_setup(LOG_OFF, LOG_JSON);
    log_error("no");
    assert_int_equal(catch_lines().len, 0);
}

enum { THREADS = 4, LINES = 500 };

static void *log_many(void *argument)
{
    log_set_trace(*(struct str *)argument);
    for (int i = 0; i < LINES; i++)
        log_info("from a thread", LOG_STR("text", *(struct str *)argument));
    return NULL;
}

/* Lines of several threads do not mix, and each carries its own thread's trace. */
static void test_threads(void **state)
{
    (void)state;
    static struct str names[THREADS] = {STR_INIT("alpha"), STR_INIT("beta"), STR_INIT("gamma"), STR_INIT("delta")};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_many, &names[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct str lines = catch_lines(), line;
    int count = 0;
    while (str_split(&lines, '\n', &line) && line.len) {
        struct line parsed = parse_line(line);
        assert_str_equal(parsed.text, parsed.trace);
        arena_reset(&arena);
        count++;
    }
    assert_int_equal(count, THREADS * LINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_long_a_line_keeps_its_message, setup, teardown),
        cmocka_unit_test_setup_teardown(test_levels, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
