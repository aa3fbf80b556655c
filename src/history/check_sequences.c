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

/* A tenancy that the answer may speak of, of the user's from `first` to `end`: with the same number if there is one. */
static const struct tenancy *find_spoken_of(const struct tenancies *tenancies, size_t first, size_t end,
                                            const struct entry *entry)
{
    const struct tenancy *other = NULL;
    for (size_t i = first; i < end; i++) {
        const struct tenancy *one = &tenancies->list[i];
        if (one->seat != entry->seat || one->sequence < 0 || one->begins_from >= entry->end ||
            one->ends_by < entry->start)
            continue;
        if (one->sequence == entry->sequence)
            return one;
        other = one;
    }
    return other;
}

/* A claim's number as a later answer tells it. Tenancies stand in the order of users, like the entries here. */
static void check_told_alike(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    const struct tenancies *tenancies = evidence->tenancies;
    size_t first = 0, end = 0;
    for (size_t i = 0; i < book->entry_count; i++) {
        const struct entry *entry = &book->entries[tenancies->order[i]];
        while (first < tenancies->count && tenancies->list[first].user < entry->user)
            first++;
        for (end = end < first ? first : end; end < tenancies->count && tenancies->list[end].user == entry->user;)
            end++;
        if (entry->answer != ANSWER_HAS || entry->sequence < 0)
            continue;
        const struct tenancy *spoken_of = find_spoken_of(tenancies, first, end, entry);
        if (spoken_of && spoken_of->sequence != entry->sequence)
            verdict_add(verdict, VIOLATION_SEQUENCE_DIFFERS, VERDICT_LINES(spoken_of->line, entry->line),
                        "%.*s has seat %lld with the number %lld, and %s says %lld.",
                        STR_ARG(book_user(book, entry->user)), (long long)entry->seat, (long long)spoken_of->sequence,
                        entry->line ? "another answer" : evidence->witness, (long long)entry->sequence);
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
