/* The table of commands; each lives in its own file. */
#include "command.h"
#include "command_config.h"
#include "command_migrate.h"
#include "command_rehearse.h"
#include "command_routes.h"
#include "command_serve.h"

static const struct command commands[] = {
    {
        .name = "serve",
        .usage = COMMAND_SETTINGS_USAGE,
        .summary = "Starts the server.",
        .text = "Without settings it keeps its data in ./data and needs nothing else. With DATABASE_URL and\n"
                "REDIS_URL it is one of a fleet.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_serve,
    },
    {
        .name = "migrate",
        .usage = COMMAND_SETTINGS_USAGE,
        .summary = "Prepares the database for this version.",
        .text = "In PostgreSQL it connects with DATABASE_ADMIN_URL (else DATABASE_URL), creates a role and a\n"
                "schema for each service, and lets the role of DATABASE_URL use them. Safe to "
                "repeat.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_migrate,
    },
    {
        .name = "config",
        .usage = "[--markdown | " COMMAND_SETTINGS_USAGE "]",
        .summary = "Checks the settings and shows where each comes from.",
        .text = COMMAND_SETTINGS_TEXT "\nWith --markdown it prints the table of all settings instead.",
        .help = command_settings_help,
        .run = command_config,
    },
    {
        .name = "rehearse",
        .usage = COMMAND_REHEARSE_USAGE,
        .summary = "Plays the opening minute of a sale against a server.",
        .text = COMMAND_REHEARSE_TEXT,
        .help = command_rehearse_help,
        .run = command_rehearse,
    },
    {
        .name = "routes",
        .usage = "[--json]",
        .summary = "Lists the addresses that the server answers.",
        .text = "BODY is the largest body in bytes that an address takes; 0 takes none.",
        .run = command_routes,
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
