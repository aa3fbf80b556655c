#include "command.h"

#include "base/suggest.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HELP_MAX_BYTES = 1 << 18 };

/* Of the terminal, within reason; 80 elsewhere. */
static size_t columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < 40 ? 40 : size.ws_col > 120 ? 120 : size.ws_col;
}

static int print(struct buf *out)
{
    bool good = !out->failed && fwrite(out->data, 1, out->len, stdout) == out->len && fflush(stdout) == 0;
    buf_free(out);
    return good ? EXIT_FINE : EXIT_FAILED;
}

static int print_overview(const struct command_table *table)
{
    struct buf out = BUF_INIT(HELP_MAX_BYTES);
    buf_add_format(&out, "%s\n\nUsage: %s <command> [flags]\n\nCommands:\n", table->summary, table->program);
    for (size_t i = 0; i < table->count; i++)
        buf_add_format(&out, "  %-13s %s\n", table->commands[i].name, table->commands[i].summary);
    buf_add_format(&out, "  %-13s %s\n\n", "help", "Tells about a command.");
    buf_add_format(&out, "`%s help <command>` tells more, `%s --version` the version.\n", table->program,
                   table->program);
    return print(&out);
}

static int print_help(const struct command_table *table, const struct command *command)
{
    struct buf out = BUF_INIT(HELP_MAX_BYTES);
    buf_add_format(&out, "%s\n\nUsage: %s %s%s%s\n", command->summary, table->program, command->name,
                   *command->usage ? " " : "", command->usage);
    if (command->text)
        buf_add_format(&out, "\n%s\n", command->text);
    if (command->help) {
        buf_add_char(&out, '\n');
        command->help(columns(), &out);
    }
    return print(&out);
}

static const struct command *find(const struct command_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(name, table->commands[i].name) == 0)
            return &table->commands[i];

    struct suggest suggest = suggest_for(str_from(name));
    for (size_t i = 0; i < table->count; i++)
        suggest_consider(&suggest, table->commands[i].name);
    suggest_consider(&suggest, "help");
    if (suggest.best)
        fprintf(stderr, "%s: there is no command %s; did you mean %s?\n", table->program, name, suggest.best);
    else
        fprintf(stderr, "%s: there is no command %s; `%s help` lists them.\n", table->program, name, table->program);
    return NULL;
}

static bool is_help(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0;
}

static bool asks_for_help(int argument_count, char **arguments)
{
    for (int i = 0; i < argument_count; i++)
        if (is_help(arguments[i]))
            return true;
    return false;
}

int command_run(const struct command_table *table, int argument_count, char **arguments)
{
    if (argument_count < 2) {
        fprintf(stderr, "%s: say what to do; `%s help` lists the commands.\n", table->program, table->program);
        return EXIT_MISUSED;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--version") == 0) {
        printf("%s %s\n", table->program, table->version);
        return EXIT_FINE;
    }
    bool help = strcmp(name, "help") == 0 || is_help(name);
    if (help && argument_count == 2)
        return print_overview(table);
    const struct command *command = find(table, help ? arguments[2] : name);
    if (!command)
        return EXIT_MISUSED;
    if (help || asks_for_help(argument_count - 2, arguments + 2))
        return print_help(table, command);
    return command->run(argument_count - 2, arguments + 2);
}
