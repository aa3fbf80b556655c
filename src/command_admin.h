#ifndef COMMAND_ADMIN_H
#define COMMAND_ADMIN_H

int command_admin(int argument_count, char **arguments);

#endif
