/* The verdict for people and for programs. */
#ifndef HISTORY_REPORT_H
#define HISTORY_REPORT_H

#include "history/book.h"
#include "history/verdict.h"

struct report {
    const char *path; /* of the history: its lines are read again */
    const struct book *book;
    const struct verdict *verdict;
    const char *against; /* NULL: nobody was asked */
    size_t shown;        /* violations of each kind that are shown in full */
    double seconds;
    int64_t peak_memory; /* bytes */
};

/* False when the lines cannot be read again. */
bool report_write_text(const struct report *report, struct buf *out);
bool report_write_json(const struct report *report, struct buf *out);

#endif
