/* Settings on the command line: loading them for every command that needs them, and the command `config`. */
#ifndef COMMAND_CONFIG_H
#define COMMAND_CONFIG_H

#include "tables/config.h"

/* For a command's row. */
#define COMMAND_SETTINGS_USAGE "[--config FILE] [--SETTING VALUE]…"
#define COMMAND_SETTINGS_TEXT                                                                                          \
    "A setting is taken from its flag, else from the environment, else from a line\n"                                  \
    "NAME=value of the file that --config names, else it has its default."
void command_settings_help(size_t columns, struct buf *out);

/* For commands that work with settings: loads them from the arguments and the environment, sets up the log and runs the
 * rest of the command with the context. When there are problems it tells them all on standard error and returns
 * EXIT_MISUSED. */
int command_with_settings(int argument_count, char **arguments,
                          int (*run)(const struct settings *settings, struct arena *arena, void *context),
                          void *context);

/* Checks and shows the settings, or with --markdown prints the table for the README. */
int command_config(int argument_count, char **arguments);

#endif
