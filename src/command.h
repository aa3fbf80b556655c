/*
 * The command line: `tickettock <command> [flags]`. Commands stand in a table;
 * `help`, `help <command>`, `<command> --help` and `--version` come from it. Runs on
 * the main thread.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include "base/buf.h"

/* What a program ends with. */
enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_MISUSED = 2 };

struct command {
    const char *name;
    const char *usage;   /* behind the name: "[--config FILE] [--SETTING VALUE]…"; "" for none */
    const char *summary; /* one line, for the list */
    const char *text;    /* for its own help: more lines, or NULL */
    /* Adds more to its own help, wrapped to so many columns; NULL for none. */
    void (*help)(size_t columns, struct buf *out);
    /* The arguments behind the command's name; returns what the program ends with. */
    int (*run)(int argument_count, char **arguments);
};

struct command_table {
    const char *program;
    const char *version;
    const char *summary;
    const struct command *commands;
    size_t count;
};

/* Runs the command that the arguments of main() name. */
int command_run(const struct command_table *table, int argument_count, char **arguments);

#endif
