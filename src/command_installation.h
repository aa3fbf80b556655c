/* `tickettock installation [renew]`. */
#ifndef COMMAND_INSTALLATION_H
#define COMMAND_INSTALLATION_H

int command_installation(int argument_count, char **arguments);

#endif
