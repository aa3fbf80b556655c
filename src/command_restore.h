#ifndef COMMAND_RESTORE_H
#define COMMAND_RESTORE_H

int command_restore(int argument_count, char **arguments);

#endif
