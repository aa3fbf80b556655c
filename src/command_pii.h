#ifndef COMMAND_PII_H
#define COMMAND_PII_H

int command_pii(int argument_count, char **arguments);

#endif
