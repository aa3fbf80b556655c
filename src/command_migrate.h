#ifndef COMMAND_MIGRATE_H
#define COMMAND_MIGRATE_H

int command_migrate(int argument_count, char **arguments);

#endif
