/*
 * Structured log on standard error: readable lines on a terminal, one JSON object
 * per line otherwise. A line has a fixed message that says what happened and
 * fields that say to what:
 *
 *     log_warn("request failed", LOG_STR("path", path), LOG_INT("status", 500));
 *
 * Never log secrets or personal data (names, phones, addresses, tokens). Any
 * thread may log; a line is written with one system call.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };
enum log_style { LOG_AUTO, LOG_TEXT, LOG_JSON };

struct log_field {
    const char *name;
    enum { LOG_FIELD_STR, LOG_FIELD_INT } type;
    struct str text;
    int64_t number;
};

#define LOG_STR(field, value) ((struct log_field){.name = (field), .type = LOG_FIELD_STR, .text = (value)})
#define LOG_C(field, value) LOG_STR(field, str_from(value))
#define LOG_INT(field, value) ((struct log_field){.name = (field), .type = LOG_FIELD_INT, .number = (value)})

void log_setup(enum log_level level, enum log_style style);
bool log_level_from(struct str name, enum log_level *level);
bool log_enabled(enum log_level level);

/* The trace id that this thread's lines carry from now on; empty for none. The
 * bytes must stay while they are set. Tasks save and restore it (task/task.c). */
void log_set_trace(struct str trace);
struct str log_trace(void);

void log_write(enum log_level level, const char *message, const struct log_field *fields, size_t count);

#define LOG_AT(level, message, ...)                                                                                    \
    do {                                                                                                               \
        if (log_enabled(level)) {                                                                                      \
            const struct log_field log_fields[] = {{0}, ##__VA_ARGS__};                                                \
            log_write((level), (message), log_fields + 1, sizeof(log_fields) / sizeof(log_fields[0]) - 1);             \
        }                                                                                                              \
    } while (0)

#define log_debug(message, ...) LOG_AT(LOG_DEBUG, message, ##__VA_ARGS__)
#define log_info(message, ...) LOG_AT(LOG_INFO, message, ##__VA_ARGS__)
#define log_warn(message, ...) LOG_AT(LOG_WARN, message, ##__VA_ARGS__)
#define log_error(message, ...) LOG_AT(LOG_ERROR, message, ##__VA_ARGS__)

#endif
