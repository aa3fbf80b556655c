#include "command_migrate.h"

#include "command.h"
#include "command_config.h"
#include "installation.h"
#include "schema.h"

#include <stdio.h>

static int migrate(const struct settings *settings, struct arena *arena, void *context)
{
    char installation[INSTALLATION_ID_SIZE];
    (void)context;
    (void)arena;
    if (!schema_migrate(settings))
        return EXIT_FAILED;
    if (installation_read(settings, installation))
        printf("The database is ready. Installation %s.\n", installation);
    return EXIT_FINE;
}

int command_migrate(int argument_count, char **arguments)
{
    return command_with_settings(argument_count, arguments, migrate, NULL);
}
