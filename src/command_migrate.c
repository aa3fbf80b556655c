#include "command_migrate.h"

#include "base/log.h"
#include "command.h"
#include "command_config.h"
#include "schema.h"

int command_migrate(int argument_count, char **arguments)
{
    struct settings settings;
    struct arena arena;
    int result = EXIT_MISUSED;
    arena_init(&arena, 1 << 20);
    if (command_settings_load(argument_count, arguments, &settings, &arena)) {
        log_setup((enum log_level)settings.log_level, (enum log_style)settings.log_format);
        result = schema_migrate(&settings) ? EXIT_FINE : EXIT_FAILED;
    }
    arena_free(&arena);
    return result;
}
