/* The table of commands; each lives in its own file. */
#include "command.h"
#include "command_account.h"
#include "command_admin.h"
#include "command_backup.h"
#include "command_check_history.h"
#include "command_config.h"
#include "command_installation.h"
#include "command_migrate.h"
#include "command_pii.h"
#include "command_rehearse.h"
#include "command_restore.h"
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
        .name = "installation",
        .usage = "[renew] " COMMAND_SETTINGS_USAGE,
        .summary = "Tells the installation's id, or gives a copied database a new one.",
        .text =
            "Names in Redis begin with the id, so that several installations can share one. A copy of a database,\n"
            "for staging say, has the id of the original: run `tickettock installation renew` on the copy before\n"
            "its first server starts. Of a database that is in use, stop every server first.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_installation,
    },
    {
        .name = "admin",
        .usage = "create|promote|remove EMAIL [--role admin|staff] [--name NAME] [--yes] " COMMAND_SETTINGS_USAGE,
        .summary = "Makes the first administrator, or another one; takes the role away.",
        .text =
            "create makes an account that has the role. It refuses an e-mail that has an account, since anybody may\n"
            "have registered it. promote gives such an account the role and a new password, which is then the only\n"
            "way in, and ends its sessions; it asks first, or takes --yes. remove takes the role away and ends the\n"
            "sessions. STAFF may check tickets, ADMIN runs the sale.\n\n"
            "The password is asked for twice, without showing it; where there is no terminal, it is the first line\n"
            "of the standard input. Works beside running servers, which notice within about a "
            "second.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_admin,
    },
    {
        .name = "account",
        .usage = "reset|erase EMAIL [--yes] " COMMAND_SETTINGS_USAGE,
        .summary = "Gives an account a new password, or erases it.",
        .text =
            "reset sets a new password, which is then the only way in, and ends all sessions: for somebody who lost\n"
            "it, or whose e-mail a stranger has registered. The password is asked for as by `admin create`.\n"
            "erase does what people do themselves at /account: personal data is wiped, also that of tickets, every\n"
            "session ends, seats stay taken. It asks first, or takes --yes.\n\n"
            "Works beside running servers, which notice within about a second.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_account,
    },
    {
        .name = "pii",
        .usage = "rotate " COMMAND_SETTINGS_USAGE,
        .summary = "Encrypts all personal data with the newest key.",
        .text = "To change the key, while the servers run:\n"
                "  1. give every server the new key as second of PII_KEYS (1:old,2:new) and restart it;\n"
                "  2. put it first everywhere (2:new,1:old) and restart again: new values have it;\n"
                "  3. run `tickettock pii rotate` with the same PII_KEYS: old values get it too;\n"
                "  4. take the old key out of PII_KEYS everywhere.\n"
                "It tells how many values had which key. It can be stopped and run again at any time, and a value\n"
                "that a server changes meanwhile is not overwritten. What earlier versions stored in plain text is\n"
                "encrypted too.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_pii,
    },
    {
        .name = "backup",
        .usage = "DIR [--with-keys] " COMMAND_SETTINGS_USAGE,
        .summary = "Copies the whole database into a new folder, while servers run.",
        .text =
            "The copy is of one moment: what was sold before the command began is in it. DIR must be new or empty; it\n"
            "appears when everything is in it, with a manifest that says what was copied and the sums of all files.\n"
            "The keys, without which people's data cannot be read, are copied with --with-keys only: keep them\n"
            "elsewhere than the data. Give it the settings of the servers.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_backup,
    },
    {
        .name = "restore",
        .usage = "DIR " COMMAND_SETTINGS_USAGE,
        .summary = "Fills an empty database from a backup.",
        .text = "Goes through the whole backup first, and does nothing when a file differs from its manifest, when a\n"
                "newer version has made it, when a server is running, or when the database (DATA_DIR, or what\n"
                "DATABASE_URL names) has data. A backup of an earlier version is brought to this one. What was copied\n"
                "from the built-in database goes back there, and PostgreSQL's into PostgreSQL, with "
                "DATABASE_ADMIN_URL\nas for `migrate`.\n\n" COMMAND_SETTINGS_TEXT,
        .help = command_settings_help,
        .run = command_restore,
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
    {
        .name = "check-history",
        .usage = CHECK_HISTORY_USAGE,
        .summary = "Judges a server by the history of a rehearsal.",
        .text = CHECK_HISTORY_TEXT,
        .run = command_check_history,
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
