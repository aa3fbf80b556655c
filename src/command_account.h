#ifndef COMMAND_ACCOUNT_H
#define COMMAND_ACCOUNT_H

int command_account(int argument_count, char **arguments);

#endif
