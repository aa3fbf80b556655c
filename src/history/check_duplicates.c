/*
 * `duplicate` is justified by another attempt of the same user, or from the same address, whose lock may have been
 * there: from the attempt's start until its answer, and if nobody removed the lock, as long as it lives after that. An
 * attempt without an answer may be under way for ever.
 */
#include "history/check.h"

#include <stdlib.h>

/* Attempts grouped by user or by address; within a group by start, each with the latest end of a lock so far. */
struct attempts {
    const struct book *book;
    bool by_address;
    const struct entry **list;
    int64_t *held_until;
    size_t count;
};

static uint32_t group_of(const struct attempts *attempts, const struct entry *entry)
{
    return attempts->by_address ? entry->address : entry->user;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct attempts *attempts = context;
    const struct entry *first = *(const struct entry *const *)a, *second = *(const struct entry *const *)b;
    uint32_t first_group = group_of(attempts, first), second_group = group_of(attempts, second);
    if (first_group != second_group)
        return first_group < second_group ? -1 : 1;
    return (first->start > second->start) - (first->start < second->start);
}

static bool takes_lock(const struct entry *entry)
{
    bool attempt = entry->kind == HISTORY_CLAIM || entry->kind == HISTORY_RELEASE;
    return attempt && entry->answer != ANSWER_DUPLICATE && entry->line != LINE_OF_WITNESS;
}

static bool attempts_gather(struct attempts *attempts)
{
    const struct book *book = attempts->book;
    attempts->list = malloc((book->entry_count + 1) * sizeof(const struct entry *));
    attempts->held_until = malloc((book->entry_count + 1) * sizeof(int64_t));
    if (!attempts->list || !attempts->held_until)
        return false;
    for (size_t i = 0; i < book->entry_count; i++)
        if (takes_lock(&book->entries[i]))
            attempts->list[attempts->count++] = &book->entries[i];
    qsort_r(attempts->list, attempts->count, sizeof(const struct entry *), compare, attempts);
    for (size_t i = 0; i < attempts->count; i++) {
        const struct entry *entry = attempts->list[i];
        int64_t until = entry->end == NEVER ? NEVER : entry->end + book->duplicate_ttl;
        bool same_group = i && group_of(attempts, attempts->list[i - 1]) == group_of(attempts, entry);
        int64_t before = same_group ? attempts->held_until[i - 1] : 0;
        attempts->held_until[i] = until > before ? until : before;
    }
    return true;
}

static void attempts_free(struct attempts *attempts)
{
    free(attempts->list);
    free(attempts->held_until);
}

/* The last attempt of the group that started before `refused` ended; NULL when there is none. */
static const struct entry *last_before(const struct attempts *attempts, const struct entry *refused,
                                       int64_t *held_until)
{
    size_t low = 0, high = attempts->count;
    uint32_t group = group_of(attempts, refused);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct entry *entry = attempts->list[middle];
        uint32_t other = group_of(attempts, entry);
        if (other < group || (other == group && entry->start <= refused->end))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || group_of(attempts, attempts->list[low - 1]) != group)
        return NULL;
    *held_until = attempts->held_until[low - 1];
    return attempts->list[low - 1];
}

static void check_refused(const struct attempts *users, const struct attempts *addresses, const struct entry *refused,
                          struct verdict *verdict)
{
    const struct book *book = users->book;
    int64_t by_user = -1, by_address = -1;
    const struct entry *last = book->lock_user ? last_before(users, refused, &by_user) : NULL;
    const struct entry *neighbour = book->lock_address ? last_before(addresses, refused, &by_address) : NULL;
    if (by_user >= refused->start || by_address >= refused->start)
        return;
    if (!last)
        last = neighbour;
    if (last)
        verdict_add(verdict, VIOLATION_FALSE_DUPLICATE, VERDICT_LINES(last->line, refused->line),
                    "%.*s was refused as a duplicate, and the last other attempt had been answered %.3f s before.",
                    STR_ARG(book_user(book, refused->user)), (double)(refused->start - last->end) / 1e9);
    else
        verdict_add(verdict, VIOLATION_FALSE_DUPLICATE, VERDICT_LINES(refused->line),
                    "%.*s was refused as a duplicate without any other attempt.",
                    STR_ARG(book_user(book, refused->user)));
}

void check_duplicates(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    struct attempts users = {.book = book}, addresses = {.book = book, .by_address = true};
    verdict->failed |= !attempts_gather(&users) || !attempts_gather(&addresses);
    for (size_t i = 0; i < book->entry_count && !verdict->failed; i++)
        if (book->entries[i].answer == ANSWER_DUPLICATE)
            check_refused(&users, &addresses, &book->entries[i], verdict);
    attempts_free(&users);
    attempts_free(&addresses);
}
