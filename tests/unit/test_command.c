#include "command.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int greetings;
static int greeting_arguments;

static int greet(int argument_count, char **arguments)
{
    greetings++;
    greeting_arguments = argument_count;
    return argument_count == 2 && strcmp(arguments[1], "fail") == 0 ? EXIT_FAILED : EXIT_FINE;
}

static void greet_help(size_t columns, struct buf *out)
{
    buf_add_format(out, "columns: %zu\n", columns);
}

static const struct command commands[] = {
    {.name = "greet", .usage = "NAME…", .summary = "Greets.", .text = "Loudly.", .help = greet_help, .run = greet},
    {.name = "migrate", .usage = "", .summary = "Moves.", .run = greet},
};
static const struct command_table table = {
    .program = "tt", .version = "1.2.3", .summary = "A program.", .commands = commands, .count = 2};

/* Both streams into files while the command runs; what it printed is in `printed` and `told`. */
static char printed[2048], told[2048];

static FILE *capture(FILE *stream, int *kept)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stream);
    *kept = dup(fileno(stream));
    assert_true(dup2(fileno(file), fileno(stream)) >= 0);
    return file;
}

static void give_back(FILE *stream, FILE *file, int kept, char *text, size_t size)
{
    fflush(stream);
    dup2(kept, fileno(stream));
    close(kept);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static int run(char **arguments)
{
    int count = 0, kept_out, kept_err;
    while (arguments[count])
        count++;
    FILE *out = capture(stdout, &kept_out), *err = capture(stderr, &kept_err);
    int status = command_run(&table, count, arguments);
    give_back(stdout, out, kept_out, printed, sizeof(printed));
    give_back(stderr, err, kept_err, told, sizeof(told));
    return status;
}

#define RUN(...) run((char *[]){"tt", ##__VA_ARGS__, NULL})

static void test_runs_the_command(void **state)
{
    (void)state;
    greetings = 0;
    assert_int_equal(RUN("greet", "a", "b"), EXIT_FINE);
    assert_int_equal(greetings, 1);
    assert_int_equal(greeting_arguments, 2);
    assert_int_equal(RUN("greet", "a", "fail"), EXIT_FAILED);
}

static void test_help(void **state)
{
    (void)state;
    greetings = 0;
    assert_int_equal(RUN("help"), EXIT_FINE);
    assert_non_null(strstr(printed, "  greet         Greets.\n  migrate       Moves.\n  help "));
    assert_int_equal(RUN("--help"), EXIT_FINE);
    assert_int_equal(RUN("help", "greet"), EXIT_FINE);
    assert_string_equal(printed, "Greets.\n\nUsage: tt greet NAME…\n\nLoudly.\n\ncolumns: 80\n");
    assert_int_equal(RUN("greet", "x", "--help"), EXIT_FINE);
    assert_string_equal(printed, "Greets.\n\nUsage: tt greet NAME…\n\nLoudly.\n\ncolumns: 80\n");
    assert_int_equal(RUN("help", "migrate"), EXIT_FINE);
    assert_string_equal(printed, "Moves.\n\nUsage: tt migrate\n");
    assert_int_equal(RUN("--version"), EXIT_FINE);
    assert_string_equal(printed, "tt 1.2.3\n");
    assert_int_equal(greetings, 0);
}

static void test_misuse(void **state)
{
    (void)state;
    assert_int_equal(RUN(), EXIT_MISUSED);
    assert_int_equal(RUN("migrat"), EXIT_MISUSED);
    assert_string_equal(told, "tt: there is no command migrat; did you mean migrate?\n");
    assert_int_equal(RUN("help", "bench"), EXIT_MISUSED);
    assert_string_equal(told, "tt: there is no command bench; `tt help` lists them.\n");
    assert_string_equal(printed, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_the_command),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
