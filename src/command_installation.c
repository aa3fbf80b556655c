#include "command_installation.h"

#include "base/str.h"
#include "command.h"
#include "command_config.h"
#include "command_database.h"
#include "installation.h"

#include <stdio.h>

static int tell_or_renew(const struct settings *settings, struct arena *arena, void *context)
{
    const bool *renew = context;
    char before[INSTALLATION_ID_SIZE], id[INSTALLATION_ID_SIZE];
    (void)arena;
    if (!command_has_database(settings, "reservation_service")) {
        fputs("tickettock: there is no database yet; its first start makes its id.\n", stderr);
        return EXIT_FAILED;
    }
    if (!installation_read(settings, before) || (*renew && !installation_renew(settings, id)))
        return EXIT_FAILED;
    if (*renew)
        printf("Installation %s is now %s. Servers know it when they start; all of them must.\n", before, id);
    else
        printf("Installation %s.\n", before);
    return EXIT_FINE;
}

int command_installation(int argument_count, char **arguments)
{
    bool renew = argument_count > 0 && strcmp(arguments[0], "renew") == 0;
    return command_with_settings(argument_count - renew, arguments + renew, tell_or_renew, &renew);
}
