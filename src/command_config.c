#include "command_config.h"

#include "base/log.h"
#include "command.h"
#include "pii/pii.h"
#include "redis_settings.h"

#include <stdio.h>
#include <unistd.h>

enum { PROBLEMS_MAX_BYTES = 1 << 16, ARENA_MAX_BYTES = 1 << 22 };

void command_settings_help(size_t columns, struct buf *out)
{
    config_print_help(&settings_table, columns, out);
}

static void tell_problems(struct buf *problems)
{
    struct str rest = buf_str(problems), line;
    fputs("tickettock: the settings cannot be used:\n", stderr);
    while (str_split(&rest, '\n', &line))
        if (line.len)
            fprintf(stderr, "  %.*s\n", STR_ARG(line));
    fputs("`tickettock help config` explains every setting.\n", stderr);
}

static bool load(int argument_count, char **arguments, struct settings *settings, struct config_value *values,
                 struct arena *arena)
{
    struct config_input input = {.argument_count = argument_count, .arguments = arguments, .environment = environ};
    struct buf problems = BUF_INIT(PROBLEMS_MAX_BYTES);
    struct coord_settings ignored = {0};
    bool good = settings_load(&input, settings, values, arena, &problems) &&
                redis_settings_read(settings, arena, &ignored, &problems) &&
                pii_check_keys(settings->pii_keys, settings->pii_hash_key, &problems);
    if (!good)
        tell_problems(&problems);
    buf_free(&problems);
    return good;
}

int command_with_settings(int argument_count, char **arguments,
                          int (*run)(const struct settings *settings, struct arena *arena, void *context),
                          void *context)
{
    struct settings settings;
    struct arena arena;
    int result = EXIT_MISUSED;
    arena_init(&arena, ARENA_MAX_BYTES);
    if (load(argument_count, arguments, &settings, NULL, &arena)) {
        log_setup((enum log_level)settings.log_level, (enum log_style)settings.log_format);
        result = run(&settings, &arena, context);
    }
    arena_free(&arena);
    return result;
}

static int show(int argument_count, char **arguments, struct arena *arena, struct buf *out)
{
    struct settings settings;
    struct config_value *values = ARENA_NEW_ARRAY(arena, struct config_value, settings_table.count);
    if (!load(argument_count, arguments, &settings, values, arena))
        return EXIT_MISUSED;
    config_print_values(&settings_table, values, out);
    return EXIT_FINE;
}

int command_config(int argument_count, char **arguments)
{
    struct arena arena;
    struct buf out = BUF_INIT(ARENA_MAX_BYTES);
    int outcome = EXIT_FINE;
    arena_init(&arena, ARENA_MAX_BYTES);
    if (argument_count == 1 && strcmp(arguments[0], "--markdown") == 0)
        config_print_markdown(&settings_table, &out);
    else
        outcome = show(argument_count, arguments, &arena, &out);
    if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
        outcome = EXIT_FAILED;
    buf_free(&out);
    arena_free(&arena);
    return outcome;
}
