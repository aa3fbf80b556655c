#include "history/tenancy.h"

#include <stdlib.h>

/* One user's entries in the order of their start, and the tenancies found of them so far. */
struct person {
    const struct book *book;
    const uint32_t *order;
    size_t count;
    struct tenancies *all;
    size_t first;   /* of this person's tenancies */
    size_t over;    /* entries before this one ended before anything that is looked at now */
    size_t guessed; /* tenancies that a claim without an answer must have begun */
};

static const struct entry *entry_at(const struct person *person, size_t i)
{
    return &person->book->entries[person->order[i]];
}

static bool same_seat(int64_t a, int64_t b)
{
    return a == b || a == SEAT_UNTOLD || b == SEAT_UNTOLD;
}

static bool may_release(const struct entry *entry, int64_t seat)
{
    return (entry->answer == ANSWER_RELEASED && same_seat(entry->seat, seat)) ||
           (entry->kind == HISTORY_RELEASE && entry->answer == ANSWER_UNKNOWN);
}

/* After it, the user does not have the seat in the way he had it before. */
static bool proves_end(const struct entry *entry, int64_t seat)
{
    switch ((enum answer)entry->answer) {
    case ANSWER_RELEASED:
    case ANSWER_GIVEN:
    case ANSWER_HAS_NONE: return true;
    case ANSWER_HAS: return !same_seat(entry->seat, seat);
    default: return false;
    }
}

/* `at` is the entry that tells of the tenancy; looked for in rising order of begins_from. */
static void find_end(struct person *person, struct tenancy *tenancy, size_t at)
{
    tenancy->ends_from = tenancy->ends_by = NEVER;
    while (person->over < person->count && entry_at(person, person->over)->end <= tenancy->begins_from)
        person->over++;
    for (size_t i = person->over; i < person->count && tenancy->ends_from == NEVER; i++) {
        const struct entry *entry = entry_at(person, i);
        if (may_release(entry, tenancy->seat) && entry->end > tenancy->begins_from)
            tenancy->ends_from = entry->start;
    }
    for (size_t i = at + 1; i < person->count && entry_at(person, i)->start < tenancy->ends_by; i++) {
        const struct entry *entry = entry_at(person, i);
        if (entry->start >= tenancy->begins_by && proves_end(entry, tenancy->seat) && entry->end < tenancy->ends_by) {
            tenancy->ends_by = entry->end;
            tenancy->ending_line = entry->line;
        }
    }
}

static struct tenancy *add_tenancy(struct tenancies *tenancies, const struct tenancy *tenancy)
{
    if (tenancies->count == tenancies->room) {
        size_t room = tenancies->room ? tenancies->room * 2 : 1024;
        struct tenancy *list = realloc(tenancies->list, room * sizeof(*list));
        if (!list)
            return NULL;
        tenancies->list = list;
        tenancies->room = room;
    }
    tenancies->list[tenancies->count] = *tenancy;
    return &tenancies->list[tenancies->count++];
}

static bool add_given(struct person *person)
{
    for (size_t i = 0; i < person->count; i++) {
        const struct entry *entry = entry_at(person, i);
        if (entry->answer != ANSWER_GIVEN || entry->seat < 1 || entry->seat > person->book->seats)
            continue;
        struct tenancy tenancy = {
            .seat = entry->seat,
            .sequence = entry->sequence,
            .begins_from = entry->start,
            .begins_by = entry->end,
            .user = entry->user,
            .line = entry->line,
        };
        find_end(person, &tenancy, i);
        if (!add_tenancy(person->all, &tenancy))
            return false;
    }
    return true;
}

/* The tenancy that an answer about the user's seat may speak of; most likely one of the latest before it. */
static struct tenancy *spoken_of(const struct person *person, const struct entry *entry)
{
    size_t low = person->first, high = person->all->count - person->guessed;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (person->all->list[middle].begins_from < entry->end)
            low = middle + 1;
        else
            high = middle;
    }
    size_t guessed = person->all->count - person->guessed, total = person->guessed + low - person->first;
    for (size_t i = 0; i < total; i++) { /* first those that were given, backwards, then the guessed */
        size_t back = low - person->first;
        struct tenancy *tenancy = &person->all->list[i < back ? low - 1 - i : guessed + (i - back)];
        if (tenancy->seat == entry->seat && tenancy->begins_from < entry->end && tenancy->ends_by >= entry->start)
            return tenancy;
    }
    return NULL;
}

/* The start of the first claim without an answer, if it began before `time`; else NEVER. */
static int64_t first_unanswered(const struct person *person, int64_t time)
{
    for (size_t i = 0; i < person->count; i++) {
        const struct entry *entry = entry_at(person, i);
        if (entry->kind == HISTORY_CLAIM && entry->answer == ANSWER_UNKNOWN)
            return entry->start < time ? entry->start : NEVER;
    }
    return NEVER;
}

/* Seats that the user is seen with, and that only a claim without an answer can have got. */
static bool add_guessed(struct person *person)
{
    for (size_t i = 0; i < person->count; i++) {
        const struct entry *entry = entry_at(person, i);
        bool has = entry->answer == ANSWER_HAS || entry->answer == ANSWER_RELEASED;
        if (!has || entry->seat < 1 || entry->seat > person->book->seats)
            continue;
        struct tenancy *known = spoken_of(person, entry);
        if (known) {
            if (known->sequence < 0)
                known->sequence = entry->sequence;
            continue;
        }
        struct tenancy tenancy = {
            .seat = entry->seat,
            .sequence = entry->sequence,
            .begins_from = first_unanswered(person, entry->end),
            .begins_by = entry->end,
            .user = entry->user,
            .line = entry->line,
        };
        if (tenancy.begins_from == NEVER)
            continue; /* nothing can have got it: check_users tells */
        person->over = 0;
        find_end(person, &tenancy, i);
        if (entry->answer == ANSWER_RELEASED) {
            tenancy.ends_by = entry->end;
            tenancy.ending_line = entry->line;
        }
        person->guessed++;
        if (!add_tenancy(person->all, &tenancy))
            return false;
    }
    return true;
}

static bool add_floating(struct tenancies *tenancies, int64_t start)
{
    if (tenancies->floating_count == tenancies->floating_room) {
        size_t room = tenancies->floating_room ? tenancies->floating_room * 2 : 256;
        int64_t *floating = realloc(tenancies->floating, room * sizeof(*floating));
        if (!floating)
            return false;
        tenancies->floating = floating;
        tenancies->floating_room = room;
    }
    tenancies->floating[tenancies->floating_count++] = start;
    return true;
}

/* Claims without an answer that may have got a seat which nobody saw. A user who never may have given anything back
 * has had one seat at most, and each that was given back makes room for one more. */
static bool add_unseen(struct person *person)
{
    int64_t unanswered = 0, releases = 0, seen = (int64_t)(person->all->count - person->first);
    bool ends_with_none = false;
    for (size_t i = 0; i < person->count; i++) {
        const struct entry *entry = entry_at(person, i);
        unanswered += entry->kind == HISTORY_CLAIM && entry->answer == ANSWER_UNKNOWN;
        releases +=
            entry->kind == HISTORY_RELEASE && (entry->answer == ANSWER_UNKNOWN || entry->answer == ANSWER_RELEASED);
        ends_with_none |= entry->line == LINE_OF_WITNESS && entry->answer == ANSWER_HAS_NONE;
    }
    int64_t left = unanswered - (int64_t)person->guessed;
    int64_t possible = releases + !ends_with_none - seen;
    int64_t floating = left < possible ? left : possible;
    for (size_t i = 0; i < person->count && floating > 0; i++) {
        const struct entry *entry = entry_at(person, i);
        if (entry->kind != HISTORY_CLAIM || entry->answer != ANSWER_UNKNOWN)
            continue;
        if (!add_floating(person->all, entry->start))
            return false;
        floating--;
    }
    return true;
}

static int by_user_and_start(const void *a, const void *b, void *context)
{
    const struct entry *entries = context;
    const struct entry *first = &entries[*(const uint32_t *)a], *second = &entries[*(const uint32_t *)b];
    if (first->user != second->user)
        return first->user < second->user ? -1 : 1;
    return (first->start > second->start) - (first->start < second->start);
}

static int by_value(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return (first > second) - (first < second);
}

size_t tenancies_of_user(const struct tenancies *tenancies, const struct book *book, size_t at)
{
    size_t end = at;
    uint32_t user = book->entries[tenancies->order[at]].user;
    while (end < book->entry_count && book->entries[tenancies->order[end]].user == user)
        end++;
    return end - at;
}

bool tenancies_find(struct tenancies *tenancies, const struct book *book)
{
    *tenancies = (struct tenancies){.order = malloc((book->entry_count + 1) * sizeof(uint32_t))};
    if (!tenancies->order)
        return false;
    for (size_t i = 0; i < book->entry_count; i++)
        tenancies->order[i] = (uint32_t)i;
    qsort_r(tenancies->order, book->entry_count, sizeof(*tenancies->order), by_user_and_start, book->entries);

    for (size_t at = 0, count; at < book->entry_count; at += count) {
        count = tenancies_of_user(tenancies, book, at);
        struct person person = {
            .book = book, .order = tenancies->order + at, .count = count, .all = tenancies, .first = tenancies->count};
        if (!add_given(&person) || !add_guessed(&person) || !add_unseen(&person))
            return false;
    }
    if (tenancies->floating_count)
        qsort(tenancies->floating, tenancies->floating_count, sizeof(*tenancies->floating), by_value);
    return true;
}

void tenancies_free(struct tenancies *tenancies)
{
    free(tenancies->list);
    free(tenancies->floating);
    free(tenancies->order);
}
