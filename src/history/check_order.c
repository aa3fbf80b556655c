/*
 * Seats follow the numbers: each claim gets the lowest seat that is free when its turn comes. Claims are gone through
 * in the order of their numbers. A lower seat was certainly free for a claim when nobody with an earlier number had it,
 * or when the last who had it was answered "given back" before the claim began.
 *
 * Claims without an answer are an excuse: one whose user was seen with the lower seat later, or one of those that
 * float, each for one seat.
 */
#include "history/check.h"
#include "history/seat_tree.h"

#include <stdlib.h>

enum { FREE_FROM_START = -1 };

struct order {
    const struct evidence *evidence;
    struct verdict *verdict;
    struct seat_tree free_since;       /* per seat: when its last tenancy was certainly over; NEVER: it is not */
    const struct tenancy **last;       /* per seat: the last tenancy with a number so far */
    const struct tenancy **unnumbered; /* tenancies without a number, by seat */
    size_t unnumbered_count;
    size_t floating_used;
    int64_t latest; /* the latest answer so far */
};

static int by_sequence(const void *a, const void *b)
{
    int64_t first = (*(const struct tenancy *const *)a)->sequence;
    int64_t second = (*(const struct tenancy *const *)b)->sequence;
    return (first > second) - (first < second);
}

static int by_seat(const void *a, const void *b)
{
    int64_t first = (*(const struct tenancy *const *)a)->seat, second = (*(const struct tenancy *const *)b)->seat;
    return (first > second) - (first < second);
}

/* A tenancy without a number that may have been there during the claim; the one that lasts longest. */
static const struct tenancy *find_excuse(const struct order *order, int64_t seat, const struct tenancy *claim)
{
    size_t low = 0, high = order->unnumbered_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order->unnumbered[middle]->seat < seat)
            low = middle + 1;
        else
            high = middle;
    }
    const struct tenancy *best = NULL;
    for (; low < order->unnumbered_count && order->unnumbered[low]->seat == seat; low++) {
        const struct tenancy *one = order->unnumbered[low];
        if (one->begins_from <= claim->begins_by && one->ends_by >= claim->begins_from &&
            (!best || one->ends_by > best->ends_by))
            best = one;
    }
    return best;
}

/* Takes one of the floating claims for the seat, if one had begun by now. */
static bool use_floating(struct order *order)
{
    const struct tenancies *tenancies = order->evidence->tenancies;
    if (order->floating_used == tenancies->floating_count || tenancies->floating[order->floating_used] > order->latest)
        return false;
    order->floating_used++;
    return true;
}

static void tell(const struct order *order, const struct tenancy *claim, int64_t seat)
{
    const struct book *book = order->evidence->book;
    const struct tenancy *last = order->last[seat - 1];
    if (last)
        verdict_add(order->verdict, VIOLATION_SEAT_ORDER, VERDICT_LINES(last->line, last->ending_line, claim->line),
                    "%.*s got seat %lld with the number %lld, while seat %lld was free: %.*s had it with the number "
                    "%lld and did not have it any more when the claim began.",
                    STR_ARG(book_user(book, claim->user)), (long long)claim->seat, (long long)claim->sequence,
                    (long long)seat, STR_ARG(book_user(book, last->user)), (long long)last->sequence);
    else
        verdict_add(order->verdict, VIOLATION_SEAT_ORDER, VERDICT_LINES(claim->line),
                    "%.*s got seat %lld with the number %lld, while seat %lld was free: nobody had it with an earlier "
                    "number.",
                    STR_ARG(book_user(book, claim->user)), (long long)claim->seat, (long long)claim->sequence,
                    (long long)seat);
}

static void take_turn(struct order *order, const struct tenancy *claim)
{
    int64_t seat;
    if (claim->begins_by > order->latest)
        order->latest = claim->begins_by;
    while ((seat = seat_tree_lowest_below(&order->free_since, claim->begins_from)) && seat < claim->seat) {
        const struct tenancy *excuse = find_excuse(order, seat, claim);
        if (!excuse && !use_floating(order))
            tell(order, claim, seat);
        seat_tree_set(&order->free_since, seat, excuse ? excuse->ends_by : NEVER);
    }
    seat_tree_set(&order->free_since, claim->seat, claim->ends_by);
    order->last[claim->seat - 1] = claim;
}

static bool prepare(struct order *order, const struct tenancy **numbered, size_t *numbered_count)
{
    const struct tenancies *tenancies = order->evidence->tenancies;
    const struct book *book = order->evidence->book;
    order->last = calloc((size_t)book->seats + 1, sizeof(const struct tenancy *));
    order->unnumbered = malloc((tenancies->count + 1) * sizeof(const struct tenancy *));
    if (!order->last || !order->unnumbered ||
        !seat_tree_init(&order->free_since, book->seats, book->start_known ? FREE_FROM_START : NEVER))
        return false;
    for (int64_t seat = 1; seat <= book->seats; seat++)
        if (bit_is_set(book->start_taken, seat))
            seat_tree_set(&order->free_since, seat, NEVER);
    for (size_t i = 0; i < tenancies->count; i++)
        if (tenancies->list[i].sequence >= 0)
            numbered[(*numbered_count)++] = &tenancies->list[i];
        else
            order->unnumbered[order->unnumbered_count++] = &tenancies->list[i];
    qsort(numbered, *numbered_count, sizeof(const struct tenancy *), by_sequence);
    qsort(order->unnumbered, order->unnumbered_count, sizeof(const struct tenancy *), by_seat);
    return true;
}

void check_order(const struct evidence *evidence, struct verdict *verdict)
{
    struct order order = {.evidence = evidence, .verdict = verdict};
    const struct tenancy **numbered = malloc((evidence->tenancies->count + 1) * sizeof(const struct tenancy *));
    size_t count = 0;
    verdict->failed |= !numbered || !prepare(&order, numbered, &count);
    for (size_t i = 0; i < count && !verdict->failed; i++)
        take_turn(&order, numbered[i]);
    seat_tree_free(&order.free_since);
    free(order.last);
    free(order.unnumbered);
    free(numbered);
}
