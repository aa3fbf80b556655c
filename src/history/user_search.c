#include "history/user_search.h"

#include <stdlib.h>

enum { AT_ONCE_MAX = 64, STATES_MAX = 4096 };

/* The seat in a state: a number, or one of these. */
enum { NO_SEAT = 0, SOME_SEAT = -1 /* one that a claim without an answer got, and nobody has told yet */ };

struct state {
    int64_t seat;
    uint64_t happened;         /* of the requests under way, by their place */
    uint32_t claims, releases; /* without an answer, that are taken to have happened */
};

struct search {
    const struct search_step *steps;
    size_t under_way[AT_ONCE_MAX]; /* steps */
    uint64_t places;               /* that are in use, as bits */
    uint32_t claims, releases;     /* without an answer, so far */
    struct state *states, *next;
    size_t state_count, next_count;
    bool overflow;
};

/* What only looks, and sees what it told, may as well happen at once: waiting could not help. */
static void look(const struct search *search, struct state *state, uint64_t places)
{
    for (uint64_t left = places & ~state->happened; left; left &= left - 1) {
        const struct search_step *step = &search->steps[search->under_way[__builtin_ctzll(left)]];
        bool sees = (step->kind == STEP_HAS_NONE && state->seat == NO_SEAT) ||
                    (step->kind == STEP_HAS && state->seat > 0 && state->seat == step->seat);
        if (sees)
            state->happened |= left & -left;
    }
}

/* Keeps the state unless one is there that can do all it can. */
static void keep(struct search *search, struct state *state)
{
    look(search, state, search->places);
    for (size_t i = 0; i < search->next_count; i++) {
        const struct state *other = &search->next[i];
        if (other->seat == state->seat && other->happened == state->happened && other->claims <= state->claims &&
            other->releases <= state->releases)
            return;
    }
    if (search->next_count == STATES_MAX)
        search->overflow = true;
    else
        search->next[search->next_count++] = *state;
}

static bool is_seat(int64_t seat, int64_t told)
{
    return seat != NO_SEAT && (seat == told || seat == SOME_SEAT || told == SEAT_UNTOLD);
}

/* The step happens now; false when it cannot. */
static bool happen(struct state *state, const struct search_step *step)
{
    switch (step->kind) {
    case STEP_CLAIM:
        if (state->seat != NO_SEAT)
            return false;
        state->seat = step->seat == SEAT_UNTOLD ? SOME_SEAT : step->seat;
        return true;
    case STEP_RELEASE:
        if (!is_seat(state->seat, step->seat))
            return false;
        state->seat = NO_SEAT;
        return true;
    case STEP_HAS:
        if (!is_seat(state->seat, step->seat))
            return false;
        if (step->seat != SEAT_UNTOLD)
            state->seat = step->seat;
        return true;
    case STEP_HAS_NONE: return state->seat == NO_SEAT;
    case STEP_LEFT_OUT: return true;
    }
    __builtin_unreachable();
}

/* All that may follow from the state by one more happening. */
static void follow(struct search *search, const struct state *state)
{
    for (uint64_t left = search->places & ~state->happened; left; left &= left - 1) {
        uint32_t place = (uint32_t)__builtin_ctzll(left);
        struct state after = *state;
        if (happen(&after, &search->steps[search->under_way[place]])) {
            after.happened |= UINT64_C(1) << place;
            keep(search, &after);
        }
    }
    if (state->seat == NO_SEAT && state->claims < search->claims) {
        struct state after = *state;
        after.seat = SOME_SEAT;
        after.claims++;
        keep(search, &after);
    }
    if (state->seat != NO_SEAT && state->releases < search->releases) {
        struct state after = *state;
        after.seat = NO_SEAT;
        after.releases++;
        keep(search, &after);
    }
}

/* The request at `place` is answered: only states in which it has happened remain. */
static bool answer(struct search *search, uint32_t place)
{
    uint64_t bit = UINT64_C(1) << place;
    search->next_count = 0;
    for (size_t i = 0; i < search->state_count; i++)
        keep(search, &search->states[i]);
    for (size_t i = 0; i < search->next_count && !search->overflow; i++)
        if (!(search->next[i].happened & bit)) {
            struct state state = search->next[i];
            follow(search, &state);
        }
    search->state_count = 0;
    for (size_t i = 0; i < search->next_count; i++)
        if (search->next[i].happened & bit) {
            search->states[search->state_count] = search->next[i];
            search->states[search->state_count++].happened &= ~bit;
        }
    search->places &= ~bit;
    return search->state_count > 0;
}

/* The first of those under way to be answered; false when that is after `time`. */
static bool next_answer(const struct search *search, int64_t time, uint32_t *place)
{
    int64_t earliest = time;
    bool found = false;
    for (uint64_t left = search->places; left; left &= left - 1) {
        uint32_t one = (uint32_t)__builtin_ctzll(left);
        int64_t end = search->steps[search->under_way[one]].end;
        if (end < earliest) {
            earliest = end;
            *place = one;
            found = true;
        }
    }
    return found;
}

static enum search_outcome answer_until(struct search *search, int64_t time, size_t *failed_at)
{
    uint32_t place;
    while (next_answer(search, time, &place)) {
        size_t step = search->under_way[place];
        bool possible = answer(search, place);
        if (search->overflow)
            return SEARCH_UNDECIDED;
        if (!possible) {
            *failed_at = step;
            return SEARCH_IMPOSSIBLE;
        }
    }
    return SEARCH_POSSIBLE;
}

static bool begin(struct search *search, size_t step)
{
    const struct search_step *one = &search->steps[step];
    if (one->kind == STEP_LEFT_OUT)
        return true;
    if (one->end == NEVER) {
        search->claims += one->kind == STEP_CLAIM;
        search->releases += one->kind == STEP_RELEASE;
        return true;
    }
    if (search->places == UINT64_MAX)
        return false;
    uint32_t place = (uint32_t)__builtin_ctzll(~search->places);
    search->under_way[place] = step;
    search->places |= UINT64_C(1) << place;
    for (size_t i = 0; i < search->state_count; i++)
        look(search, &search->states[i], UINT64_C(1) << place);
    return true;
}

enum search_outcome user_search(const struct search_step *steps, size_t count, size_t *failed_at)
{
    static _Thread_local struct state room[2][STATES_MAX];
    struct search search = {.steps = steps, .states = room[0], .next = room[1], .state_count = 1};
    search.states[0] = (struct state){.seat = NO_SEAT};
    for (size_t i = 0; i < count; i++) {
        enum search_outcome outcome = answer_until(&search, steps[i].start, failed_at);
        if (outcome != SEARCH_POSSIBLE)
            return outcome;
        if (!begin(&search, i))
            return SEARCH_UNDECIDED;
    }
    return answer_until(&search, NEVER, failed_at);
}
