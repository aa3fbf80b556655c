/*
 * Settings out of one table of rows. A row APP_PORT is set by, strongest first:
 * the flag `--app-port 5801` (or `--app-port=5801`), the environment variable
 * APP_PORT, a line `APP_PORT=5801` of the file that `--config FILE` names, the
 * default. Everything that is wrong is found at the start and told at once.
 *
 * This file knows rows; which rows there are and what they mean together is
 * tables/config. Used by the main thread before others are started.
 */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#include "base/arena.h"

enum config_type {
    CONFIG_IS_GROUP,   /* no setting but a heading: `name` */
    CONFIG_IS_INTEGER, /* int64_t */
    CONFIG_IS_BOOLEAN, /* bool: true, false, yes, no, on, off, 1, 0 */
    CONFIG_IS_TEXT,    /* struct str with a NUL behind it; ptr NULL when not set */
    CONFIG_IS_CHOICE,  /* int, the place in the list `unit`: "auto|text|json" */
    CONFIG_IS_URL,     /* struct str like TEXT; `unit` lists the schemes: "postgresql|postgres" */
};

struct config_row {
    const char *name;
    enum config_type type;
    size_t offset;        /* of the member in the struct of settings */
    const char *fallback; /* the default as text; "" for none */
    int64_t min, max;     /* of an integer; bytes of a text or URL */
    const char *unit;
    bool secret; /* its value is never printed */
    const char *text;
};

/* Another name of a setting, used when the setting itself is not set. */
struct config_alias {
    const char *alias;
    const char *name;
};

struct config_table {
    const struct config_row *rows;
    size_t count;
    const struct config_alias *aliases;
    size_t alias_count;
    /* An environment variable with one of these beginnings that is no setting is
     * taken for a slip and refused. */
    const char *const *own_prefixes;
    size_t own_prefix_count;
};

enum config_origin { CONFIG_FROM_DEFAULT, CONFIG_FROM_FILE, CONFIG_FROM_ENVIRONMENT, CONFIG_FROM_FLAG };

struct config_value {
    struct str text;
    enum config_origin origin;
    const char *set_by; /* the name that was used, for messages */
};

struct config_input {
    int argument_count; /* flags only, without program and command */
    char *const *arguments;
    char *const *environment;
};

/* Fills the settings. `values` (one per row, may be NULL) tells what was set where.
 * Adds one line per problem to `problems`; true when there was none. Texts live in
 * the arena. */
__attribute__((warn_unused_result)) bool config_load(const struct config_table *table, const struct config_input *input,
                                                     void *settings, struct config_value *values, struct arena *arena,
                                                     struct buf *problems);

/* One problem, as a line. */
__attribute__((format(printf, 2, 3))) void config_problem(struct buf *problems, const char *format, ...);

/* For `--help`: every setting with its flag, wrapped to so many columns. */
void config_print_help(const struct config_table *table, size_t columns, struct buf *out);

/* For the README. */
void config_print_markdown(const struct config_table *table, struct buf *out);

/* NAME=value lines as loaded, with their origin; secrets only as set or not set. */
void config_print_values(const struct config_table *table, const struct config_value *values, struct buf *out);

/* "--app-port" of APP_PORT. */
enum { CONFIG_FLAG_SIZE = 64 };
void config_flag(const char *name, char out[CONFIG_FLAG_SIZE]);

#endif
