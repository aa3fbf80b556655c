/*
 * One seat, one owner: no two tenancies of a seat may certainly overlap. By time, from what is certain of each; and by
 * number, which is sharper: who has the seat with a later number got it after the earlier one, so the earlier tenancy
 * must have been able to end before that.
 */
#include "history/check.h"

#include <stdlib.h>

static int by_seat_and(int64_t first, int64_t second, const struct tenancy *a, const struct tenancy *b)
{
    if (a->seat != b->seat)
        return a->seat < b->seat ? -1 : 1;
    return (first > second) - (first < second);
}

static int by_certain_begin(const void *a, const void *b)
{
    const struct tenancy *first = *(const struct tenancy *const *)a, *second = *(const struct tenancy *const *)b;
    return by_seat_and(first->begins_by, second->begins_by, first, second);
}

static int by_number(const void *a, const void *b)
{
    const struct tenancy *first = *(const struct tenancy *const *)a, *second = *(const struct tenancy *const *)b;
    return by_seat_and(first->sequence, second->sequence, first, second);
}

static void tell(const struct evidence *evidence, const struct tenancy *first, const struct tenancy *second,
                 struct verdict *verdict)
{
    verdict_add(verdict, VIOLATION_TWO_OWNERS, VERDICT_LINES(first->line, second->line),
                "Seat %lld was %.*s's%s and became %.*s's%s, while %.*s had not given it back.", (long long)first->seat,
                STR_ARG(book_user(evidence->book, first->user)), first->line ? "" : " in the end",
                STR_ARG(book_user(evidence->book, second->user)), second->line ? "" : " in the end",
                STR_ARG(book_user(evidence->book, first->user)));
}

static void check_by_number(const struct evidence *evidence, const struct tenancy **list, size_t count,
                            struct verdict *verdict)
{
    for (size_t i = 1; i < count; i++) {
        const struct tenancy *first = list[i - 1], *second = list[i];
        if (first->seat == second->seat && first->user != second->user && first->sequence >= 0 &&
            first->ends_from >= second->begins_by)
            tell(evidence, first, second, verdict);
    }
}

/* Has check_by_number judged these two? */
static bool judged(const struct tenancy *first, const struct tenancy *second)
{
    return first->sequence >= 0 && second->sequence >= 0;
}

static void check_by_time(const struct evidence *evidence, const struct tenancy **list, size_t count,
                          struct verdict *verdict)
{
    const struct tenancy *longest = NULL; /* of this seat so far: the one that may have ended last */
    for (size_t i = 0; i < count; i++) {
        const struct tenancy *one = list[i];
        if (longest && longest->seat != one->seat)
            longest = NULL;
        if (longest && longest->user != one->user && !judged(longest, one) && longest->ends_from > one->begins_by &&
            one->ends_from > one->begins_by)
            tell(evidence, longest, one, verdict);
        if (!longest || one->ends_from > longest->ends_from)
            longest = one;
    }
}

/* Who had a seat before the first request is not part of the rehearsal and gives nothing back. */
static void check_against_start(const struct evidence *evidence, struct verdict *verdict)
{
    const struct tenancies *tenancies = evidence->tenancies;
    for (size_t i = 0; i < tenancies->count; i++) {
        const struct tenancy *one = &tenancies->list[i];
        if (bit_is_set(evidence->book->start_taken, one->seat))
            verdict_add(verdict, VIOLATION_TWO_OWNERS, VERDICT_LINES(one->line),
                        "Seat %lld was taken before the first request, and became %.*s's.", (long long)one->seat,
                        STR_ARG(book_user(evidence->book, one->user)));
    }
}

void check_owners(const struct evidence *evidence, struct verdict *verdict)
{
    const struct tenancies *tenancies = evidence->tenancies;
    const struct tenancy **list = malloc((tenancies->count + 1) * sizeof(const struct tenancy *));
    check_against_start(evidence, verdict);
    verdict->failed |= !list;
    if (!list)
        return;
    for (size_t i = 0; i < tenancies->count; i++)
        list[i] = &tenancies->list[i];
    qsort(list, tenancies->count, sizeof(const struct tenancy *), by_number);
    check_by_number(evidence, list, tenancies->count, verdict);
    qsort(list, tenancies->count, sizeof(const struct tenancy *), by_certain_begin);
    check_by_time(evidence, list, tenancies->count, verdict);
    free(list);
}
