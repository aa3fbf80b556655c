/*
 * What the checks found: each violation with the fewest lines that show it, in words. Owner: whoever called
 * verdict_init, who calls verdict_free. One thread.
 */
#ifndef HISTORY_VERDICT_H
#define HISTORY_VERDICT_H

#include "base/arena.h"

enum violation {
#define VIOLATION(kind, name, text) VIOLATION_##kind,
#include "history/violations.def"
#undef VIOLATION
    VIOLATION_COUNT
};

enum { FINDING_LINES_MAX = 8, FINDINGS_KEPT = 100 /* of each kind; all are counted */ };

struct finding {
    enum violation kind;
    struct str words;
    uint32_t lines[FINDING_LINES_MAX]; /* rising, each once */
    size_t line_count;
};

struct verdict {
    struct arena arena;
    struct finding *findings;
    size_t count, room;
    uint64_t counts[VIOLATION_COUNT];
    uint64_t total;
    uint64_t undecided_users; /* whose histories were too tangled to be searched through */
    bool failed;              /* memory was short: nothing is certain */
};

void verdict_init(struct verdict *verdict);
void verdict_free(struct verdict *verdict);

/* Line 0 (the witness) and lines beyond FINDING_LINES_MAX are left out. The words are a printf format. */
__attribute__((format(printf, 5, 6))) void verdict_add(struct verdict *verdict, enum violation kind,
                                                       const uint32_t *lines, size_t line_count, const char *words,
                                                       ...);
#define VERDICT_LINES(...) ((const uint32_t[]){__VA_ARGS__}), sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

const char *violation_name(enum violation kind);
const char *violation_text(enum violation kind);

#endif
