/* A number is given once, and who came after another had been answered has a later one. */
#include "history/check.h"

#include <stdlib.h>

static int by_sequence(const void *a, const void *b)
{
    int64_t first = (*(const struct tenancy *const *)a)->sequence;
    int64_t second = (*(const struct tenancy *const *)b)->sequence;
    return (first > second) - (first < second);
}

static void check_unique(const struct evidence *evidence, const struct tenancy **numbered, size_t count,
                         struct verdict *verdict)
{
    for (size_t i = 1; i < count; i++) {
        const struct tenancy *first = numbered[i - 1], *second = numbered[i];
        if (first->sequence == second->sequence)
            verdict_add(verdict, VIOLATION_SEQUENCE_TWICE, VERDICT_LINES(first->line, second->line),
                        "The number %lld was given to %.*s (seat %lld) and to %.*s (seat %lld).",
                        (long long)first->sequence, STR_ARG(book_user(evidence->book, first->user)),
                        (long long)first->seat, STR_ARG(book_user(evidence->book, second->user)),
                        (long long)second->seat);
    }
}

/* A claim's number as other answers tell it. */
static void check_told_alike(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    const struct tenancies *tenancies = evidence->tenancies;
    size_t tenancy = 0;
    for (size_t at = 0, count; at < book->entry_count; at += count) {
        count = tenancies_of_user(tenancies, book, at);
        uint32_t user = book->entries[tenancies->order[at]].user;
        size_t first = tenancy;
        while (tenancy < tenancies->count && tenancies->list[tenancy].user == user)
            tenancy++;
        for (size_t i = at; i < at + count; i++) {
            const struct entry *entry = &book->entries[tenancies->order[i]];
            if (entry->answer != ANSWER_HAS || entry->sequence < 0)
                continue;
            const struct tenancy *same = NULL;
            bool alike = false;
            for (size_t t = first; t < tenancy && !alike; t++) {
                const struct tenancy *one = &tenancies->list[t];
                if (one->seat != entry->seat || one->sequence < 0 || one->begins_from >= entry->end ||
                    one->ends_by < entry->start)
                    continue;
                same = one;
                alike = one->sequence == entry->sequence;
            }
            if (same && !alike)
                verdict_add(verdict, VIOLATION_SEQUENCE_DIFFERS, VERDICT_LINES(same->line, entry->line),
                            "%.*s has seat %lld with the number %lld, and %s says %lld.",
                            STR_ARG(book_user(book, user)), (long long)entry->seat, (long long)same->sequence,
                            entry->line ? "another answer" : evidence->witness, (long long)entry->sequence);
        }
    }
}

static int by_start(const void *a, const void *b)
{
    int64_t first = (*(const struct entry *const *)a)->start, second = (*(const struct entry *const *)b)->start;
    return (first > second) - (first < second);
}

static int by_end(const void *a, const void *b)
{
    int64_t first = (*(const struct entry *const *)a)->end, second = (*(const struct entry *const *)b)->end;
    return (first > second) - (first < second);
}

static void check_in_time(const struct evidence *evidence, const struct entry **started, const struct entry **ended,
                          size_t count, struct verdict *verdict)
{
    const struct entry *highest = NULL; /* of those answered before the present one started */
    size_t over = 0;
    for (size_t i = 0; i < count; i++) {
        for (; over < count && ended[over]->end < started[i]->start; over++)
            if (!highest || ended[over]->sequence > highest->sequence)
                highest = ended[over];
        if (highest && highest->sequence > started[i]->sequence)
            verdict_add(verdict, VIOLATION_SEQUENCE_BACKWARDS, VERDICT_LINES(highest->line, started[i]->line),
                        "%.*s had been answered with the number %lld before %.*s asked, who got %lld.",
                        STR_ARG(book_user(evidence->book, highest->user)), (long long)highest->sequence,
                        STR_ARG(book_user(evidence->book, started[i]->user)), (long long)started[i]->sequence);
    }
}

void check_sequences(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    const struct tenancies *tenancies = evidence->tenancies;
    const struct tenancy **numbered = malloc((tenancies->count + 1) * sizeof(const struct tenancy *));
    const struct entry **started = malloc((book->entry_count + 1) * sizeof(const struct entry *));
    const struct entry **ended = malloc((book->entry_count + 1) * sizeof(const struct entry *));
    verdict->failed |= !numbered || !started || !ended;
    if (!verdict->failed) {
        size_t count = 0;
        for (size_t i = 0; i < tenancies->count; i++)
            if (tenancies->list[i].sequence >= 0)
                numbered[count++] = &tenancies->list[i];
        qsort(numbered, count, sizeof(const struct tenancy *), by_sequence);
        check_unique(evidence, numbered, count, verdict);
        check_told_alike(evidence, verdict);

        count = 0;
        for (size_t i = 0; i < book->entry_count; i++)
            if (book->entries[i].answer == ANSWER_GIVEN && book->entries[i].sequence >= 0)
                started[count] = ended[count] = &book->entries[i], count++;
        qsort(started, count, sizeof(const struct entry *), by_start);
        qsort(ended, count, sizeof(const struct entry *), by_end);
        check_in_time(evidence, started, ended, count, verdict);
    }
    free(numbered);
    free(started);
    free(ended);
}
