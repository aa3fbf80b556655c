#include "history/verdict.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORDS_MAX = 1024, ARENA_MAX = 1 << 24 };

static const struct {
    const char *name, *text;
} violations[] = {
#define VIOLATION(kind, name, text) {name, text},
#include "history/violations.def"
#undef VIOLATION
};

const char *violation_name(enum violation kind)
{
    return violations[kind].name;
}

const char *violation_text(enum violation kind)
{
    return violations[kind].text;
}

void verdict_init(struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    arena_init(&verdict->arena, ARENA_MAX);
}

void verdict_free(struct verdict *verdict)
{
    arena_free(&verdict->arena);
    free(verdict->findings);
}

/* Rising and each once. */
static void add_line(struct finding *finding, uint32_t line)
{
    size_t at = 0;
    while (at < finding->line_count && finding->lines[at] < line)
        at++;
    bool known = at < finding->line_count && finding->lines[at] == line;
    if (line == 0 || known || finding->line_count == FINDING_LINES_MAX)
        return;
    for (size_t i = finding->line_count; i > at; i--)
        finding->lines[i] = finding->lines[i - 1];
    finding->lines[at] = line;
    finding->line_count++;
}

void verdict_add(struct verdict *verdict, enum violation kind, const uint32_t *lines, size_t line_count,
                 const char *words, ...)
{
    verdict->total++;
    if (verdict->counts[kind]++ >= FINDINGS_KEPT)
        return;
    if (verdict->count == verdict->room) {
        size_t room = verdict->room ? verdict->room * 2 : 64;
        struct finding *findings = realloc(verdict->findings, room * sizeof(*findings));
        if (!findings) {
            verdict->failed = true;
            return;
        }
        verdict->findings = findings;
        verdict->room = room;
    }
    char text[WORDS_MAX];
    va_list arguments;
    va_start(arguments, words);
    vsnprintf(text, sizeof(text), words, arguments);
    va_end(arguments);
    struct finding *finding = &verdict->findings[verdict->count++];
    *finding = (struct finding){.kind = kind, .words = arena_copy(&verdict->arena, str_from(text))};
    for (size_t i = 0; i < line_count; i++)
        add_line(finding, lines[i]);
}
