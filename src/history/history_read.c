#include "history/history_format.h"

#include "base/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_ARENA_MAX = 2 * HISTORY_LINE_MAX, PROBLEM_MAX = 512, LARGEST_HOUSE = 100000000 };
#define LATEST_TIME (INT64_C(1) << 60) /* leaves room to count with */

struct history_reader {
    FILE *file;
    char *text; /* getline's */
    size_t size, length;
    uint64_t line;
    uint64_t count;     /* of requests */
    struct arena arena; /* of the present line */
    struct arena header_arena;
    struct history_header header;
    bool complete; /* the last line has been there */
    char problem[PROBLEM_MAX];
};

struct first_line {
    struct str tickettock;
    int64_t version;
    struct history_header header;
};
#define HEADER_FIELD(member, name, ...) JSON_FIELD(struct first_line, header.member, name, __VA_ARGS__)
static const struct json_field first_line_fields[] = {
    JSON_FIELD(struct first_line, tickettock, "tickettock", .required = true, .max = HISTORY_TEXT_MAX),
    JSON_FIELD(struct first_line, version, "version", .required = true),
    HEADER_FIELD(schedule, "scheduleId", .max = HISTORY_TEXT_MAX),
    HEADER_FIELD(seats, "seats", .required = true, .min = 0, .max = LARGEST_HOUSE),
    HEADER_FIELD(started, "started"),
    HEADER_FIELD(servers, "servers", .min = 1, .max = 1000),
    HEADER_FIELD(taken, "taken", .max = HISTORY_LINE_MAX),
    HEADER_FIELD(duplicate_policy, "duplicatePolicy", .max = HISTORY_TEXT_MAX),
    HEADER_FIELD(duplicate_ttl_ms, "duplicateTtlMs", .min = 0, .max = 86400000),
    HEADER_FIELD(map_lag_ms, "mapLagMs", .min = 0, .max = 86400000),
};
static const struct json_descriptor first_line_descriptor = JSON_DESCRIPTOR(struct first_line, first_line_fields);

/* A request, or the last line. */
struct line {
    struct str op;
    struct history_op request;
    int64_t status, server, count;
    bool has_start;
};
#define OP_FIELD(member, name, ...) JSON_FIELD(struct line, request.member, name, __VA_ARGS__)
static const struct json_field line_fields[] = {
    JSON_FIELD(struct line, op, "op", .required = true, .max = HISTORY_TEXT_MAX),
    OP_FIELD(user, "user", .max = HISTORY_TEXT_MAX),
    OP_FIELD(start, "start", .min = 0, .max = LATEST_TIME, .present = JSON_PRESENT(struct line, has_start)),
    OP_FIELD(end, "end", .min = 0, .max = LATEST_TIME),
    JSON_FIELD(struct line, status, "status", .min = 100, .max = 599),
    OP_FIELD(reason, "reason", .max = HISTORY_TEXT_MAX),
    OP_FIELD(seat, "seat", .min = 0, .max = INT64_MAX),
    OP_FIELD(sequence, "seq", .min = 0, .max = INT64_MAX),
    OP_FIELD(remaining, "remaining", .min = 0, .max = INT64_MAX),
    JSON_FIELD(struct line, server, "server", .min = 0, .max = 1000),
    OP_FIELD(address, "address", .max = HISTORY_TEXT_MAX),
    OP_FIELD(owner, "owner", .max = HISTORY_TEXT_MAX),
    OP_FIELD(generation, "generation", .min = 0, .max = INT64_MAX),
    OP_FIELD(version, "version", .min = 0, .max = INT64_MAX),
    OP_FIELD(taken, "taken", .max = HISTORY_LINE_MAX),
    JSON_FIELD(struct line, count, "count", .min = 0, .max = INT64_MAX),
};
static const struct json_descriptor line_descriptor = JSON_DESCRIPTOR(struct line, line_fields);

/* False at the end of the file; *whole tells whether the line has its end. */
static bool read_line(struct history_reader *reader, bool *whole)
{
    ssize_t length = getline(&reader->text, &reader->size, reader->file);
    if (length < 0)
        return false;
    reader->line++;
    *whole = reader->text[length - 1] == '\n';
    reader->length = (size_t)length - *whole;
    return true;
}

static struct str line_text(const struct history_reader *reader)
{
    return str_make(reader->text, reader->length);
}

__attribute__((format(printf, 2, 3))) static enum history_outcome damaged(struct history_reader *reader,
                                                                          const char *format, ...)
{
    int prefix = snprintf(reader->problem, PROBLEM_MAX, "line %llu: ", (unsigned long long)reader->line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reader->problem + prefix, (size_t)(PROBLEM_MAX - prefix), format, arguments);
    va_end(arguments);
    return HISTORY_DAMAGED;
}

static bool read_header(struct history_reader *reader)
{
    struct first_line first = {.header = HISTORY_HEADER_UNKNOWN};
    struct json_problem problem;
    bool whole;
    if (!read_line(reader, &whole)) {
        snprintf(reader->problem, PROBLEM_MAX, "the file is empty or cannot be read");
        return false;
    }
    struct str text = arena_copy(&reader->header_arena, line_text(reader));
    if (!json_read(text, &first_line_descriptor, &first, &reader->header_arena, &problem)) {
        damaged(reader, "no history of tickettock: %.*s", STR_ARG(problem.message));
        return false;
    }
    if (!str_eq(first.tickettock, STR("history")) || first.version != HISTORY_VERSION) {
        damaged(reader, "no history of a version that this program reads");
        return false;
    }
    reader->header = first.header;
    return true;
}

static void free_reader(struct history_reader *reader)
{
    if (reader->file)
        fclose(reader->file);
    free(reader->text);
    arena_free(&reader->arena);
    arena_free(&reader->header_arena);
    free(reader);
}

struct history_reader *history_reader_open(const char *path, struct arena *arena, struct str *problem)
{
    struct history_reader *reader = calloc(1, sizeof(*reader));
    if (!reader) {
        *problem = STR("there is no memory");
        return NULL;
    }
    arena_init(&reader->arena, LINE_ARENA_MAX);
    arena_init(&reader->header_arena, LINE_ARENA_MAX);
    reader->file = fopen(path, "re");
    if (!reader->file)
        snprintf(reader->problem, PROBLEM_MAX, "cannot open it: %s", strerror(errno));
    else if (read_header(reader))
        return reader;
    *problem = arena_copy(arena, str_from(reader->problem));
    free_reader(reader);
    return NULL;
}

const struct history_header *history_reader_header(const struct history_reader *reader)
{
    return &reader->header;
}

static enum history_outcome read_last_line(struct history_reader *reader, const struct line *line)
{
    if (line->count != (int64_t)reader->count)
        return damaged(reader, "the recorder wrote %lld requests, but %llu are here", (long long)line->count,
                       (unsigned long long)reader->count);
    reader->complete = true;
    return HISTORY_END;
}

static enum history_outcome take_op(struct history_reader *reader, struct line *line, struct history_op *op)
{
    if (reader->complete)
        return damaged(reader, "there is a line behind the last one");
    if (str_eq(line->op, STR("end")))
        return read_last_line(reader, line);
    line->request.status = (int)line->status;
    line->request.server = (int)line->server;
    *op = line->request;
    if (!history_kind_from(line->op, &op->kind))
        return damaged(reader, "there is no op \"%.*s\"", STR_ARG(line->op));
    if (!line->has_start)
        return damaged(reader, "start is missing");
    if (op->kind != HISTORY_MAP && !op->user.ptr)
        return damaged(reader, "user is missing");
    if (op->end != HISTORY_NO_ANSWER && op->end < op->start)
        return damaged(reader, "it ends before it starts");
    if ((op->end == HISTORY_NO_ANSWER) != (op->status == 0))
        return damaged(reader, "an answer needs both end and status");
    reader->count++;
    return HISTORY_OP;
}

enum history_outcome history_reader_next(struct history_reader *reader, struct history_op *op)
{
    struct line line = {.request = HISTORY_OP_UNKNOWN, .server = -1, .count = -1};
    struct json_problem problem;
    bool whole;
    if (!read_line(reader, &whole))
        return ferror(reader->file) ? damaged(reader, "cannot read on: %s", strerror(errno))
               : reader->complete   ? HISTORY_END
                                    : HISTORY_CUT_OFF;
    if (reader->length > HISTORY_LINE_MAX)
        return damaged(reader, "the line is too long");
    arena_reset(&reader->arena);
    if (json_read(line_text(reader), &line_descriptor, &line, &reader->arena, &problem)) {
        enum history_outcome outcome = take_op(reader, &line, op);
        return outcome == HISTORY_END ? history_reader_next(reader, op) : outcome;
    }
    if (!whole && !reader->complete)
        return HISTORY_CUT_OFF; /* half a line: the recorder died while writing it */
    return damaged(reader, "%.*s", STR_ARG(problem.message));
}

uint64_t history_reader_line(const struct history_reader *reader)
{
    return reader->line;
}

struct str history_reader_text(const struct history_reader *reader)
{
    return line_text(reader);
}

struct str history_reader_problem(const struct history_reader *reader)
{
    return str_from(reader->problem);
}

void history_reader_close(struct history_reader *reader)
{
    free_reader(reader);
}
