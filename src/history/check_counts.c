/*
 * Goes through the time once, with two pictures of the house: the seats that may be taken and the seats that certainly
 * are. Whoever was told "sold out" must have had a moment at which all may have been taken; what remains must lie
 * between both; and a map may show nothing that neither picture had within the time that a map may lag behind.
 *
 * Times are doubled, so that "just after" has a number: a tenancy is possible from its first moment to its last, and
 * certain strictly between.
 */
#include "history/check.h"
#include "history/window.h"

#include <stdlib.h>

struct moment {
    int64_t time;
    uint32_t index;
    enum {
        POSSIBLE_BEGINS, /* index: of a tenancy */
        POSSIBLE_ENDS,
        CERTAIN_BEGINS,
        CERTAIN_ENDS,
        FLOATING_BEGINS,
        ASK_ENTRY, /* after all changes of the same moment */
        ASK_MAP,
    } what;
};

static const uint32_t NOBODY = UINT32_MAX;

struct seat {
    uint32_t possible, certain; /* how many tenancies */
    uint32_t last, holder;      /* tenancies: the last possible one that is over, the certain one; NOBODY */
    int64_t free_since;         /* not even possibly taken */
    int64_t certain_since;
};

struct scene {
    const struct evidence *evidence;
    struct verdict *verdict;
    struct moment *moments;
    size_t moment_count;
    struct seat *seats;
    uint64_t *possible, *certain, *shown; /* as bits */
    size_t words;
    int64_t possible_count, certain_count, floating;
    struct window most_possible; /* seats and floating claims */
    struct window least_certain; /* negative */
};

static int by_time(const void *a, const void *b)
{
    const struct moment *first = a, *second = b;
    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return (first->what > second->what) - (first->what < second->what);
}

static void add_moment(struct scene *scene, int64_t time, int what, size_t index)
{
    struct moment *moment = &scene->moments[scene->moment_count++];
    moment->time = time;
    moment->what = (__typeof__(moment->what))what;
    moment->index = (uint32_t)index;
}

static bool is_asked(const struct entry *entry)
{
    bool counted = entry->answer == ANSWER_GIVEN || entry->answer == ANSWER_RELEASED;
    return entry->answer == ANSWER_SOLD_OUT || (counted && entry->remaining >= 0);
}

static bool gather_moments(struct scene *scene)
{
    const struct tenancies *tenancies = scene->evidence->tenancies;
    const struct book *book = scene->evidence->book;
    size_t room = 4 * tenancies->count + tenancies->floating_count + book->entry_count + book->map_count;
    scene->moments = malloc((room + 1) * sizeof(*scene->moments));
    if (!scene->moments)
        return false;
    for (size_t i = 0; i < tenancies->count; i++) {
        const struct tenancy *one = &tenancies->list[i];
        add_moment(scene, 2 * one->begins_from, POSSIBLE_BEGINS, i);
        if (one->ends_by != NEVER)
            add_moment(scene, 2 * one->ends_by + 1, POSSIBLE_ENDS, i);
        if (one->ends_from <= one->begins_by)
            continue;
        add_moment(scene, 2 * one->begins_by + 1, CERTAIN_BEGINS, i);
        if (one->ends_from != NEVER)
            add_moment(scene, 2 * one->ends_from, CERTAIN_ENDS, i);
    }
    for (size_t i = 0; i < tenancies->floating_count; i++)
        add_moment(scene, 2 * tenancies->floating[i], FLOATING_BEGINS, i);
    for (size_t i = 0; i < book->entry_count; i++)
        if (is_asked(&book->entries[i]))
            add_moment(scene, 2 * book->entries[i].end, ASK_ENTRY, i);
    for (size_t i = 0; i < book->map_count; i++)
        add_moment(scene, 2 * book->maps[i].end, ASK_MAP, i);
    qsort(scene->moments, scene->moment_count, sizeof(*scene->moments), by_time);
    return true;
}

static bool prepare(struct scene *scene)
{
    const struct book *book = scene->evidence->book;
    scene->words = (size_t)book->seats / 64 + 1;
    scene->seats = calloc((size_t)book->seats + 1, sizeof(*scene->seats));
    scene->possible = calloc(scene->words, sizeof(uint64_t));
    scene->certain = calloc(scene->words, sizeof(uint64_t));
    scene->shown = calloc(scene->words, sizeof(uint64_t));
    if (!scene->seats || !scene->possible || !scene->certain || !scene->shown || !gather_moments(scene))
        return false;
    for (int64_t seat = 1; seat <= book->seats; seat++) {
        bool taken = bit_is_set(book->start_taken, seat), possible = taken || !book->start_known;
        scene->seats[seat - 1] = (struct seat){.possible = possible,
                                               .certain = taken,
                                               .last = NOBODY,
                                               .holder = NOBODY,
                                               .free_since = INT64_MIN,
                                               .certain_since = INT64_MIN};
        bit_set(scene->possible, seat, possible);
        bit_set(scene->certain, seat, taken);
        scene->possible_count += possible;
        scene->certain_count += taken;
    }
    return window_init(&scene->most_possible, scene->possible_count) &&
           window_init(&scene->least_certain, -scene->certain_count);
}

static void change_possible(struct scene *scene, const struct moment *moment, int change)
{
    int64_t number = scene->evidence->tenancies->list[moment->index].seat;
    struct seat *seat = &scene->seats[number - 1];
    bool before = seat->possible > 0;
    seat->possible += (uint32_t)change;
    bool after = seat->possible > 0;
    if (before == after)
        return;
    if (!after) {
        seat->free_since = moment->time;
        seat->last = moment->index;
    }
    scene->possible_count += change;
    bit_set(scene->possible, number, after);
}

static void change_certain(struct scene *scene, const struct moment *moment, int change)
{
    int64_t number = scene->evidence->tenancies->list[moment->index].seat;
    struct seat *seat = &scene->seats[number - 1];
    bool before = seat->certain > 0;
    seat->certain += (uint32_t)change;
    bool after = seat->certain > 0;
    if (before == after)
        return;
    if (after) {
        seat->certain_since = moment->time;
        seat->holder = moment->index;
    }
    scene->certain_count += change;
    bit_set(scene->certain, number, after);
}

/* The line of a tenancy, or of what ended it; 0 for NOBODY. */
static uint32_t line_of(const struct scene *scene, uint32_t tenancy, bool ending)
{
    if (tenancy == NOBODY)
        return 0;
    const struct tenancy *one = &scene->evidence->tenancies->list[tenancy];
    return ending ? one->ending_line : one->line;
}

static void tell_sold_out(const struct scene *scene, const struct entry *entry, int64_t since, int64_t most)
{
    const struct book *book = scene->evidence->book;
    int64_t free = 0;
    for (int64_t seat = 1; seat <= book->seats && !free; seat++)
        if (!bit_is_set(scene->possible, seat) && scene->seats[seat - 1].free_since <= since)
            free = seat;
    if (!free || scene->floating)
        verdict_add(scene->verdict, VIOLATION_FALSE_SOLD_OUT, VERDICT_LINES(entry->line),
                    "%.*s was told that all is sold, while at most %lld of %lld seats can have been taken.",
                    STR_ARG(book_user(book, entry->user)), (long long)most, (long long)book->seats);
    else if (scene->seats[free - 1].last == NOBODY)
        verdict_add(scene->verdict, VIOLATION_FALSE_SOLD_OUT, VERDICT_LINES(entry->line),
                    "%.*s was told that all is sold, while seat %lld was free: nobody had asked for it yet.",
                    STR_ARG(book_user(book, entry->user)), (long long)free);
    else
        verdict_add(scene->verdict, VIOLATION_FALSE_SOLD_OUT,
                    VERDICT_LINES(line_of(scene, scene->seats[free - 1].last, true), entry->line),
                    "%.*s was told that all is sold, while seat %lld was free: its last owner did not have it any "
                    "more, and nobody had asked for it since.",
                    STR_ARG(book_user(book, entry->user)), (long long)free);
}

static void judge_sold_out(struct scene *scene, const struct entry *entry)
{
    int64_t since = 2 * (entry->start - scene->evidence->book->map_lag);
    int64_t most = window_greatest_since(&scene->most_possible, since);
    if (most < scene->evidence->book->seats)
        tell_sold_out(scene, entry, since, most);
}

static void judge_remaining(struct scene *scene, const struct entry *entry)
{
    const struct book *book = scene->evidence->book;
    int64_t most = window_greatest_since(&scene->most_possible, 2 * entry->start);
    int64_t least = -window_greatest_since(&scene->least_certain, 2 * entry->start);
    if (entry->answer == ANSWER_GIVEN)
        least++; /* the claim's own */
    if (entry->remaining < book->seats - most || entry->remaining > book->seats - least)
        verdict_add(scene->verdict, VIOLATION_WRONG_COUNT, VERDICT_LINES(entry->line),
                    "%.*s was told that %lld of %lld seats remain, while %lld to %lld were taken.",
                    STR_ARG(book_user(book, entry->user)), (long long)entry->remaining, (long long)book->seats,
                    (long long)least, (long long)most);
}

static int64_t draw_map(struct scene *scene, const struct map_entry *map)
{
    const struct book *book = scene->evidence->book;
    int64_t count = 0;
    memset(scene->shown, 0, scene->words * sizeof(*scene->shown));
    for (size_t i = 0; i < map->range_count; i++) {
        const struct seat_range *range = &book->ranges[map->first_range + i];
        count += (int64_t)range->last - range->first + 1;
        for (uint32_t seat = range->first; seat <= range->last;) {
            if ((seat - 1) % 64 == 0 && range->last - seat >= 63) {
                scene->shown[(seat - 1) / 64] = UINT64_MAX;
                seat += 64;
            } else {
                bit_set(scene->shown, seat++, true);
            }
        }
    }
    return count;
}

/* Shown as taken, but for the whole time it cannot have been. */
static void judge_taken(struct scene *scene, const struct map_entry *map, int64_t since)
{
    int64_t unexplained = 0, first = 0;
    for (size_t word = 0; word < scene->words; word++)
        for (uint64_t bits = scene->shown[word] & ~scene->possible[word]; bits; bits &= bits - 1) {
            int64_t seat = (int64_t)word * 64 + __builtin_ctzll(bits) + 1;
            if (scene->seats[seat - 1].free_since > since)
                continue;
            unexplained++;
            first = first ? first : seat;
        }
    if (unexplained <= scene->floating)
        return;
    const struct seat *seat = &scene->seats[first - 1];
    verdict_add(scene->verdict, VIOLATION_STALE_MAP, VERDICT_LINES(line_of(scene, seat->last, true), map->line),
                "%s shows seat %lld as taken, while it was free: %s.", map->line ? "A map" : scene->evidence->witness,
                (long long)first,
                seat->last == NOBODY ? "nobody can have had it yet" : "it had been given back before");
}

/* Shown as free, but for the whole time it was certainly taken. */
static void judge_free(struct scene *scene, const struct map_entry *map, int64_t since)
{
    for (size_t word = 0; word < scene->words; word++)
        for (uint64_t bits = scene->certain[word] & ~scene->shown[word]; bits; bits &= bits - 1) {
            int64_t number = (int64_t)word * 64 + __builtin_ctzll(bits) + 1;
            const struct seat *seat = &scene->seats[number - 1];
            if (seat->certain_since > since)
                continue;
            verdict_add(scene->verdict, VIOLATION_STALE_MAP,
                        VERDICT_LINES(line_of(scene, seat->holder, false), map->line),
                        "%s shows seat %lld as free, while it was taken%s.",
                        map->line ? "A map" : scene->evidence->witness, (long long)number,
                        seat->holder == NOBODY ? " from the start" : "");
            return;
        }
}

static void judge_map(struct scene *scene, const struct map_entry *map)
{
    const struct book *book = scene->evidence->book;
    if (!map->has_seats)
        return;
    int64_t since = 2 * (map->start - book->map_lag), taken = draw_map(scene, map);
    if (map->remaining >= 0 && taken + map->remaining != book->seats)
        verdict_add(scene->verdict, VIOLATION_WRONG_COUNT, VERDICT_LINES(map->line),
                    "%s shows %lld seats as taken and %lld as free, and the house has %lld.",
                    map->line ? "A map" : scene->evidence->witness, (long long)taken, (long long)map->remaining,
                    (long long)book->seats);
    judge_taken(scene, map, since);
    judge_free(scene, map, since);
}

static void judge_entry(struct scene *scene, const struct entry *entry)
{
    if (entry->answer == ANSWER_SOLD_OUT)
        judge_sold_out(scene, entry);
    else
        judge_remaining(scene, entry);
}

static bool pass(struct scene *scene, const struct moment *moment)
{
    switch (moment->what) {
    case POSSIBLE_BEGINS: change_possible(scene, moment, 1); break;
    case POSSIBLE_ENDS: change_possible(scene, moment, -1); break;
    case CERTAIN_BEGINS: change_certain(scene, moment, 1); break;
    case CERTAIN_ENDS: change_certain(scene, moment, -1); break;
    case FLOATING_BEGINS: scene->floating++; break;
    case ASK_ENTRY: judge_entry(scene, &scene->evidence->book->entries[moment->index]); return true;
    case ASK_MAP: judge_map(scene, &scene->evidence->book->maps[moment->index]); return true;
    }
    return window_change(&scene->most_possible, moment->time, scene->possible_count + scene->floating) &&
           window_change(&scene->least_certain, moment->time, -scene->certain_count);
}

void check_counts(const struct evidence *evidence, struct verdict *verdict)
{
    struct scene scene = {.evidence = evidence, .verdict = verdict};
    verdict->failed |= !prepare(&scene);
    for (size_t i = 0; i < scene.moment_count && !verdict->failed; i++)
        verdict->failed |= !pass(&scene, &scene.moments[i]);
    window_free(&scene.most_possible);
    window_free(&scene.least_certain);
    free(scene.moments);
    free(scene.seats);
    free(scene.possible);
    free(scene.certain);
    free(scene.shown);
}
