/* `tickettock restore DIR`: looks at everything first, and then fills an empty database. */
#include "command_restore.h"

#include "backup_keys.h"
#include "command.h"
#include "command_config.h"
#include "restore_files.h"
#include "schema.h"

#include <stdio.h>

/* Tables are made as they were when they were copied, filled, and then brought to this version. */
static bool restore_server(const struct settings *settings, const struct backup_manifest *manifest, const char *folder,
                           struct arena *arena)
{
    const char *url = settings->database_url.ptr;
    return postgres_copy_may_enter(url, &manifest->copy) &&
           schema_migrate_server(settings, copy_migrations(&manifest->copy, migrations, "postgres", arena)) &&
           postgres_copy_in(url, &manifest->copy, folder) && schema_migrate(settings);
}

static bool is_our_kind(const struct backup_manifest *manifest, const char *dialect)
{
    if (str_eq(manifest->database, str_from(dialect)))
        return true;
    fprintf(
        stderr,
        "tickettock: this is a backup of %s, and the settings name %s. A backup goes back into the kind of database "
        "that it came from; nothing was done.\n",
        str_eq(manifest->database, STR("sqlite")) ? "the built-in database" : "PostgreSQL",
        strcmp(dialect, "sqlite") == 0 ? "no DATABASE_URL" : "PostgreSQL");
    return false;
}

static void tell(const struct backup_manifest *manifest, const char *folder)
{
    printf("Restored: everything as of %.*s, from version %.*s.\n", STR_ARG(manifest->taken_at),
           STR_ARG(manifest->program));
    if (manifest->keys.count == 0)
        puts("The backup has no keys: before the first start, put the key files that belonged to it into DATA_DIR, or "
             "give the server the same keys in its settings.");
    else if (copy_find_file(&manifest->copy, STR(BACKUP_KEYS_SETTINGS)))
        printf("Start the server with the keys of %s/" BACKUP_KEYS_SETTINGS " in its settings.\n", folder);
}

static int run(const struct settings *settings, struct arena *arena, void *context)
{
    const char *folder = context, *dialect = settings->database_url.len ? "postgres" : "sqlite";
    struct backup_manifest manifest;
    if (!backup_manifest_read(&manifest, folder, arena) || !is_our_kind(&manifest, dialect) ||
        !copy_fits(&manifest.copy, migrations, schema_services, dialect))
        return EXIT_FAILED;
    if (!(settings->database_url.len ? restore_server : restore_files)(settings, &manifest, folder, arena)) {
        fputs("tickettock: the backup was not restored.\n", stderr);
        return EXIT_FAILED;
    }
    tell(&manifest, folder);
    return EXIT_FINE;
}

int command_restore(int argument_count, char **arguments)
{
    if (argument_count > 0 && *arguments[0] && *arguments[0] != '-')
        return command_with_settings(argument_count - 1, arguments + 1, run, arguments[0]);
    fputs("tickettock: say `restore DIR`, where DIR is a backup; `tickettock help restore` explains it.\n", stderr);
    return EXIT_MISUSED;
}
