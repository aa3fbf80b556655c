#include "history/report.h"

#include "base/json_write.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINE_SHOWN_MAX = 2000, LINES_ARENA_MAX = 1 << 26 };

/* The lines that the findings name, by number. */
struct lines {
    struct arena arena;
    struct {
        uint32_t number;
        struct str text;
    } * list;
    size_t count;
};

static int by_number(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b; /* the first member */
    return (first > second) - (first < second);
}

static void read_texts(struct lines *lines, FILE *file)
{
    char *text = NULL;
    size_t size = 0, at = 0;
    ssize_t length;
    for (uint32_t number = 1; at < lines->count && (length = getline(&text, &size, file)) > 0; number++)
        for (; at < lines->count && lines->list[at].number == number; at++) {
            struct str line = str_make(text, (size_t)length - (text[length - 1] == '\n'));
            lines->list[at].text = arena_copy(&lines->arena, str_first(line, LINE_SHOWN_MAX));
        }
    free(text);
}

static bool lines_read(struct lines *lines, const struct report *report)
{
    const struct verdict *verdict = report->verdict;
    *lines = (struct lines){.list = calloc(verdict->count * FINDING_LINES_MAX + 1, sizeof(*lines->list))};
    arena_init(&lines->arena, LINES_ARENA_MAX);
    FILE *file = fopen(report->path, "re");
    bool good = lines->list && file;
    for (size_t i = 0; good && i < verdict->count; i++)
        for (size_t line = 0; line < verdict->findings[i].line_count; line++)
            lines->list[lines->count++].number = verdict->findings[i].lines[line];
    if (good) {
        qsort(lines->list, lines->count, sizeof(*lines->list), by_number);
        read_texts(lines, file);
    }
    if (file)
        fclose(file);
    return good;
}

static struct str lines_find(const struct lines *lines, uint32_t number)
{
    const char *found = bsearch(&number, lines->list, lines->count, sizeof(*lines->list), by_number);
    return found ? lines->list[(size_t)(found - (const char *)lines->list) / sizeof(*lines->list)].text : STR("");
}

static void lines_free(struct lines *lines)
{
    arena_free(&lines->arena);
    free(lines->list);
}

static size_t count_answers(const struct book *book, enum answer answer)
{
    size_t count = 0;
    for (size_t i = 0; i < book->recorded_count; i++)
        count += book->entries[i].answer == answer;
    return count;
}

static const char *verdict_word(const struct verdict *verdict)
{
    return verdict->total ? "violations" : verdict->undecided_users || verdict->failed ? "undecided" : "clean";
}

static void write_facts(const struct report *report, struct buf *out)
{
    const struct book *book = report->book;
    buf_add_format(out,
                   "%zu requests of %u users and %zu maps; %lld seats; %zu claims or releases without an answer.\n",
                   book->recorded_count, book->users.count, book->map_count, (long long)book->seats,
                   count_answers(book, ANSWER_UNKNOWN));
    if (report->against)
        buf_add_format(out, "Compared with %s.\n", report->against);
    else
        buf_add(out, STR("Not compared with a final state: --against URL or database does that.\n"));
    if (book->cut_off)
        buf_add(out, STR("The recording was cut off and its last requests are missing, so only numbers, versions and "
                         "single answers were judged.\n"));
    if (!book->start_known)
        buf_add(out, STR("The history does not tell which seats were taken before it began, so order, maps and sold "
                         "out were judged only in part.\n"));
    if (report->verdict->undecided_users)
        buf_add_format(out, "%llu users did too much at once to be judged.\n",
                       (unsigned long long)report->verdict->undecided_users);
}

static void write_finding(const struct finding *finding, const struct lines *lines, struct buf *out)
{
    buf_add_format(out, "\n%s: %.*s\n", violation_name(finding->kind), STR_ARG(finding->words));
    for (size_t i = 0; i < finding->line_count; i++)
        buf_add_format(out, "  line %u: %.*s\n", finding->lines[i], STR_ARG(lines_find(lines, finding->lines[i])));
}

bool report_write_text(const struct report *report, struct buf *out)
{
    const struct verdict *verdict = report->verdict;
    struct lines lines;
    bool good = lines_read(&lines, report);
    size_t shown[VIOLATION_COUNT] = {0};
    write_facts(report, out);
    for (size_t i = 0; good && i < verdict->count; i++)
        if (shown[verdict->findings[i].kind]++ < report->shown)
            write_finding(&verdict->findings[i], &lines, out);
    if (verdict->total)
        buf_add_format(out, "\n%llu violations:\n", (unsigned long long)verdict->total);
    for (enum violation kind = 0; kind < VIOLATION_COUNT; kind++)
        if (verdict->counts[kind])
            buf_add_format(out, "%8llu %s: %s\n", (unsigned long long)verdict->counts[kind], violation_name(kind),
                           violation_text(kind));
    buf_add_format(out, "%s%s (%.2f s, %lld MiB)\n", verdict->total ? "" : "\n",
                   verdict->total                                ? "NOT CLEAN"
                   : verdict->undecided_users || verdict->failed ? "UNDECIDED"
                                                                 : "CLEAN: no violation",
                   report->seconds, (long long)report->peak_memory >> 20);
    lines_free(&lines);
    return good;
}

static void write_json_finding(struct json_writer *json, const struct finding *finding, const struct lines *lines)
{
    json_begin_object(json);
    json_member_string(json, "kind", str_from(violation_name(finding->kind)));
    json_member_string(json, "words", finding->words);
    json_member_array(json, "lines");
    for (size_t i = 0; i < finding->line_count; i++) {
        json_begin_object(json);
        json_member_int(json, "line", finding->lines[i]);
        json_member_string(json, "text", lines_find(lines, finding->lines[i]));
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

bool report_write_json(const struct report *report, struct buf *out)
{
    const struct verdict *verdict = report->verdict;
    const struct book *book = report->book;
    struct lines lines;
    bool good = lines_read(&lines, report);
    size_t shown[VIOLATION_COUNT] = {0};
    struct json_writer json = json_write_to(out);
    json_begin_object(&json);
    json_member_string(&json, "verdict", str_from(verdict_word(verdict)));
    json_member_uint(&json, "requests", book->recorded_count);
    json_member_uint(&json, "users", book->users.count);
    json_member_uint(&json, "maps", book->map_count);
    json_member_int(&json, "seats", book->seats);
    json_member_uint(&json, "unanswered", count_answers(book, ANSWER_UNKNOWN));
    json_member_bool(&json, "cutOff", book->cut_off);
    json_member_bool(&json, "startKnown", book->start_known);
    json_member_uint(&json, "undecidedUsers", verdict->undecided_users);
    json_member_string_or_null(&json, "against", str_from(report->against));
    json_member_int(&json, "milliseconds", (int64_t)(report->seconds * 1000));
    json_member_int(&json, "peakMemoryBytes", report->peak_memory);
    json_member_object(&json, "counts");
    for (enum violation kind = 0; kind < VIOLATION_COUNT; kind++)
        if (verdict->counts[kind])
            json_member_uint(&json, violation_name(kind), verdict->counts[kind]);
    json_end_object(&json);
    json_member_array(&json, "violations");
    for (size_t i = 0; good && i < verdict->count; i++)
        if (shown[verdict->findings[i].kind]++ < report->shown)
            write_json_finding(&json, &verdict->findings[i], &lines);
    json_end_array(&json);
    json_end_object(&json);
    buf_add_char(out, '\n');
    lines_free(&lines);
    return good;
}
