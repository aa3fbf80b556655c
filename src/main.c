/* The table of commands; each lives in its own file. */
#include "command.h"
#include "command_config.h"

static const struct command commands[] = {
    {
        .name = "config",
        .usage = "[--markdown | " COMMAND_SETTINGS_USAGE "]",
        .summary = "Checks the settings and shows where each comes from.",
        .text = COMMAND_SETTINGS_TEXT "\nWith --markdown it prints the table of all settings instead.",
        .help = command_settings_help,
        .run = command_config,
    },
};

int main(int argument_count, char **arguments)
{
    static const struct command_table table = {
        .program = "tickettock",
        .version = TICKETTOCK_VERSION,
        .summary = "Tickettock sells tickets: one program, from a laptop to a fleet.",
        .commands = commands,
        .count = sizeof(commands) / sizeof(commands[0]),
    };
    return command_run(&table, argument_count, arguments);
}
