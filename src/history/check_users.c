/* One user's answers must fit together; where they do not, the fewest that cannot all be true are shown. */
#include "history/check.h"
#include "history/user_search.h"

#include <stdlib.h>

/* So few steps are left out one by one, of more first whole parts. */
enum { ONE_BY_ONE_MAX = 64 };

/* Steps looked at in the search for the fewest; past it, more than the fewest are shown. */
static const size_t MINIMIZE_MAX = 20000000;

struct person {
    const struct evidence *evidence;
    struct verdict *verdict;
    struct search_step *steps;
    size_t count;
};

static bool step_of(const struct book *book, const struct entry *entry, struct search_step *step)
{
    step->start = entry->start;
    step->end = entry->end;
    step->seat = entry->seat;
    switch ((enum answer)entry->answer) {
    case ANSWER_GIVEN: step->kind = STEP_CLAIM; return true;
    case ANSWER_RELEASED: step->kind = STEP_RELEASE; return true;
    case ANSWER_HAS: step->kind = STEP_HAS; return true;
    case ANSWER_HAS_NONE: step->kind = STEP_HAS_NONE; return true;
    case ANSWER_SOLD_OUT: /* from a server's copy of the house, which may lag behind other servers */
        step->kind = STEP_HAS_NONE;
        step->start -= book->map_lag;
        return true;
    case ANSWER_UNKNOWN: step->kind = entry->kind == HISTORY_CLAIM ? STEP_CLAIM : STEP_RELEASE; return true;
    case ANSWER_NOTHING:
    case ANSWER_DUPLICATE: return false;
    }
    __builtin_unreachable();
}

static int by_start(const void *a, const void *b)
{
    int64_t first = ((const struct search_step *)a)->start, second = ((const struct search_step *)b)->start;
    return (first > second) - (first < second);
}

/* Takes the certainty out of steps `from` to `to`: a change may or may not have happened, a look is left out. */
static void weaken(struct search_step *steps, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        bool change = steps[i].kind == STEP_CLAIM || steps[i].kind == STEP_RELEASE;
        steps[i].end = change ? NEVER : steps[i].end;
        steps[i].kind = change ? steps[i].kind : STEP_LEFT_OUT;
    }
}

/* Weakens whatever is not needed for the contradiction, in smaller and smaller parts, the last first, so that what was
 * told early, and not what the witness says in the end, is shown where either would do. */
static bool minimize(struct person *person)
{
    size_t bytes = person->count * sizeof(*person->steps), ignored;
    struct search_step *trial = malloc(bytes + 1);
    if (!trial)
        return false;
    for (size_t part = person->count > ONE_BY_ONE_MAX ? person->count : 1;
         part > 0 && person->count / part * person->count < MINIMIZE_MAX; part /= 2)
        for (size_t to = person->count; to > 0; to -= to < part ? to : part) {
            size_t from = to < part ? 0 : to - part;
            memcpy(trial, person->steps, bytes);
            weaken(trial, from, to);
            if (user_search(trial, person->count, &ignored) == SEARCH_IMPOSSIBLE)
                memcpy(person->steps, trial, bytes);
        }
    free(trial);
    return true;
}

static bool is_needed(const struct search_step *step)
{
    return step->end != NEVER && step->kind != STEP_LEFT_OUT;
}

/* The contradiction's steps by kind, and the last of them. */
struct core {
    size_t counts[STEP_LEFT_OUT + 1];
    const struct search_step *last;
    bool last_was_released; /* the last step speaks of a seat that another gave back */
};

static struct core core_of(const struct person *person)
{
    struct core core = {0};
    for (size_t i = 0; i < person->count; i++)
        if (is_needed(&person->steps[i])) {
            core.counts[person->steps[i].kind]++;
            if (!core.last || person->steps[i].end >= core.last->end)
                core.last = &person->steps[i];
        }
    for (size_t i = 0; core.last && i < person->count; i++) {
        const struct search_step *step = &person->steps[i];
        core.last_was_released |= is_needed(step) && step != core.last && step->kind == STEP_RELEASE &&
                                  (step->seat == core.last->seat || step->seat == SEAT_UNTOLD);
    }
    return core;
}

/* What the contradiction is called, by what is left of it. */
static enum violation name_contradiction(const struct person *person)
{
    struct core core = core_of(person);
    if (core.counts[STEP_HAS_NONE])
        return core.counts[STEP_CLAIM] || core.last->kind == STEP_HAS_NONE ? VIOLATION_LOST_CLAIM
                                                                           : VIOLATION_UNEARNED_SEAT;
    if (core.last_was_released && core.last->kind != STEP_CLAIM)
        return VIOLATION_RESURRECTED;
    if (core.counts[STEP_CLAIM] > 1)
        return VIOLATION_DOUBLE_CLAIM;
    return core.counts[STEP_CLAIM] || (core.counts[STEP_HAS] > 1 && !core.counts[STEP_RELEASE])
               ? VIOLATION_WRONG_SEAT
               : VIOLATION_UNEARNED_SEAT;
}

static void add_seat(struct buf *words, const char *before, int64_t seat)
{
    buf_add(words, str_from(before));
    if (seat == SEAT_UNTOLD)
        buf_add(words, STR("a seat"));
    else
        buf_add_format(words, "seat %lld", (long long)seat);
}

static void add_words(struct buf *words, const struct person *person, const struct search_step *step)
{
    const struct entry *entry = &person->evidence->book->entries[step->entry];
    if (entry->line == LINE_OF_WITNESS) {
        buf_add(words, str_from(person->evidence->witness));
        if (step->kind == STEP_HAS_NONE)
            buf_add(words, STR(" knows of none in the end"));
        else
            add_seat(words, " has in the end ", step->seat);
    } else if (step->kind == STEP_CLAIM) {
        add_seat(words, "was given ", step->seat);
    } else if (step->kind == STEP_RELEASE) {
        add_seat(words, "gave back ", step->seat);
    } else if (step->kind == STEP_HAS) {
        add_seat(words, "was told to have ", step->seat);
    } else {
        buf_add(words,
                entry->answer == ANSWER_SOLD_OUT ? STR("was told that all is sold") : STR("was told to have no seat"));
    }
    if (entry->line != LINE_OF_WITNESS)
        buf_add_format(words, " (line %u)", entry->line);
}

static void tell(const struct person *person)
{
    const struct book *book = person->evidence->book;
    struct buf words = BUF_INIT(1024);
    uint32_t lines[FINDING_LINES_MAX];
    size_t line_count = 0, told = 0;
    uint32_t user = 0;
    for (size_t i = 0; i < person->count; i++) {
        const struct search_step *step = &person->steps[i];
        if (!is_needed(step))
            continue;
        user = book->entries[step->entry].user;
        if (line_count < FINDING_LINES_MAX)
            lines[line_count++] = book->entries[step->entry].line;
        buf_add(&words, told++ ? STR(", ") : STR(""));
        add_words(&words, person, step);
    }
    verdict_add(person->verdict, name_contradiction(person), lines, line_count, "%.*s: %.*s; these cannot all be true.",
                STR_ARG(book_user(book, user)), STR_ARG(buf_str(&words)));
    buf_free(&words);
}

static void check_user(struct person *person)
{
    size_t failed_at;
    switch (user_search(person->steps, person->count, &failed_at)) {
    case SEARCH_POSSIBLE: break;
    case SEARCH_UNDECIDED: person->verdict->undecided_users++; break;
    case SEARCH_IMPOSSIBLE:
        if (minimize(person))
            tell(person);
        else
            person->verdict->failed = true;
        break;
    }
}

void check_users(const struct evidence *evidence, struct verdict *verdict)
{
    const struct book *book = evidence->book;
    struct person person = {.evidence = evidence, .verdict = verdict};
    size_t room = 0;
    for (size_t at = 0, count; at < book->entry_count && !verdict->failed; at += count) {
        count = tenancies_of_user(evidence->tenancies, book, at);
        if (count > room) {
            struct search_step *steps = realloc(person.steps, count * sizeof(*steps));
            verdict->failed |= !steps;
            if (!steps)
                break;
            person.steps = steps;
            room = count;
        }
        person.count = 0;
        bool sold_out = false;
        for (size_t i = 0; i < count; i++) {
            uint32_t entry = evidence->tenancies->order[at + i];
            struct search_step *step = &person.steps[person.count];
            step->entry = entry;
            person.count += step_of(book, &book->entries[entry], step);
            sold_out |= book->entries[entry].answer == ANSWER_SOLD_OUT;
        }
        if (sold_out && book->map_lag) /* their starts have moved */
            qsort(person.steps, person.count, sizeof(*person.steps), by_start);
        check_user(&person);
    }
    free(person.steps);
}
