/* `tickettock check-history`: judges a server by the history of a rehearsal. */
#ifndef COMMAND_CHECK_HISTORY_H
#define COMMAND_CHECK_HISTORY_H

#define CHECK_HISTORY_USAGE "FILE [--against URL|DATABASE] [--json] [flags]"
extern const char CHECK_HISTORY_TEXT[];

int command_check_history(int argument_count, char **arguments);

#endif
