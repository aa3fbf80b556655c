/* A password from whoever runs a command: asked twice on a terminal, which does not show it; else a line of the
 * standard input. */
#ifndef COMMAND_PASSWORD_H
#define COMMAND_PASSWORD_H

#include "base/str.h"

enum { COMMAND_PASSWORD_SIZE = 256 };

/* False after telling why. The caller wipes it. */
__attribute__((warn_unused_result)) bool command_ask_password(char password[COMMAND_PASSWORD_SIZE]);

#endif
