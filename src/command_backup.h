#ifndef COMMAND_BACKUP_H
#define COMMAND_BACKUP_H

int command_backup(int argument_count, char **arguments);

#endif
