#include "base/log.h"

#include "base/clock.h"

#include <stdatomic.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8192 };

static _Atomic enum log_level threshold = LOG_INFO;
static _Atomic bool as_json = true;
static _Thread_local struct str current_trace;

static const char *const level_names[] = {"debug", "info", "warn", "error", "off"};

void log_setup(enum log_level level, enum log_style style)
{
    atomic_store(&threshold, level);
    atomic_store(&as_json, style == LOG_JSON || (style == LOG_AUTO && !isatty(STDERR_FILENO)));
}

bool log_level_from(struct str name, enum log_level *level)
{
    for (enum log_level i = LOG_DEBUG; i <= LOG_OFF; i++)
        if (str_ieq(name, str_from(level_names[i]))) {
            *level = i;
            return true;
        }
    return false;
}

bool log_enabled(enum log_level level)
{
    return level >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

void log_set_trace(struct str trace)
{
    current_trace = trace;
}

struct str log_trace(void)
{
    return current_trace;
}

/* Quotes, backslashes and control characters are escaped, and what is not UTF-8
 * becomes '?': a line stays one line and valid JSON whatever a client sent. */
static void add_escaped(struct buf *line, struct str s)
{
    bool utf8 = str_is_utf8(s);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c == '"' || c == '\\')
            buf_add_format(line, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_add_format(line, "\\u%04x", c);
        else
            buf_add_char(line, c >= 0x80 && !utf8 ? '?' : (char)c);
    }
}

static void add_json_text(struct buf *line, const char *name, struct str value)
{
    buf_add_format(line, ",\"%s\":\"", name);
    add_escaped(line, value);
    buf_add_char(line, '"');
}

static void write_json(struct buf *line, enum log_level level, const char *message, const struct log_field *fields,
                       size_t count)
{
    char now[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(clock_wall_ms(), now);
    buf_add_format(line, "{\"time\":\"%s\",\"level\":\"%s\"", now, level_names[level]);
    add_json_text(line, "message", str_from(message));
    if (current_trace.len)
        add_json_text(line, "traceId", current_trace);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].type == LOG_FIELD_INT)
            buf_add_format(line, ",\"%s\":%lld", fields[i].name, (long long)fields[i].number);
        else
            add_json_text(line, fields[i].name, fields[i].text);
    }
    buf_add(line, STR("}"));
}

static void write_text(struct buf *line, enum log_level level, const char *message, const struct log_field *fields,
                       size_t count)
{
    char now[CLOCK_RFC3339_SIZE];
    clock_format_rfc3339(clock_wall_ms(), now);
    buf_add_format(line, "%.12s %-5s %s", now + 11, level_names[level], message);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].type == LOG_FIELD_INT) {
            buf_add_format(line, "  %s=%lld", fields[i].name, (long long)fields[i].number);
        } else {
            buf_add_format(line, "  %s=", fields[i].name);
            add_escaped(line, fields[i].text);
        }
    }
    if (current_trace.len) {
        buf_add(line, STR("  trace="));
        add_escaped(line, current_trace);
    }
}

void log_write(enum log_level level, const char *message, const struct log_field *fields, size_t count)
{
    struct buf line = BUF_INIT(LINE_MAX_BYTES);
    bool json = atomic_load_explicit(&as_json, memory_order_relaxed);
    (json ? write_json : write_text)(&line, level, message, fields, count);
    if (line.failed) { /* too long: what happened matters more than to what */
        buf_clear(&line);
        (json ? write_json : write_text)(&line, level, message, NULL, 0);
    }
    if (buf_add_char(&line, '\n')) {
        ssize_t written = write(STDERR_FILENO, line.data, line.len);
        (void)written; /* nowhere left to complain */
    }
    buf_free(&line);
}
