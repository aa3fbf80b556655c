#include "command_migrate.h"

#include "command.h"
#include "command_config.h"
#include "schema.h"

static int migrate(const struct settings *settings, struct arena *arena, void *context)
{
    (void)context;
    (void)arena;
    return schema_migrate(settings) ? EXIT_FINE : EXIT_FAILED;
}

int command_migrate(int argument_count, char **arguments)
{
    return command_with_settings(argument_count, arguments, migrate, NULL);
}
