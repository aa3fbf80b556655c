#include "services/ticket/claim.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/ticket/announce.h"
#include "services/ticket/claim_write.h"

#include <stdlib.h>

static const struct statement LOCK_HOUSE = {
    .sql = "UPDATE houses SET version = version + 1, "
           "sequence = CASE WHEN sequence + $2 > $3 THEN sequence + $2 ELSE $3 END "
           "WHERE id = $1 RETURNING generation, version, sequence, seats",
};
/* Nothing was changed after all: every version has its lines of history, so that others can catch up (office.h). */
static const struct statement TAKE_VERSION_BACK = {
    .sql = "UPDATE houses SET version = version - 1 WHERE id = $1",
};
static const struct statement SELECT_HOLDER = {
    .sql = "SELECT seat_id, claimed_at, sequence FROM claims WHERE house_id = $1 AND user_id = $2",
};
static const struct statement DELETE_CLAIM = {
    .sql = "DELETE FROM claims WHERE house_id = $1 AND user_id = $2 RETURNING seat_id",
};
static const struct statement DELETE_SEAT = {
    .sqlite = "DELETE FROM claims WHERE place = " SQLITE_PLACE("$2") " RETURNING user_id",
    .postgres = "DELETE FROM claims WHERE house_id = $1 AND seat_id = $2 RETURNING user_id",
};

const char *claim_outcome_name(enum claim_outcome outcome)
{
    static const char *const names[CLAIM_OUTCOME_COUNT] = {
        [CLAIM_CLAIMED] = "claimed",
        [CLAIM_SOLD_OUT] = "sold_out",
        [CLAIM_SEAT_TAKEN] = "seat_taken",
        [CLAIM_ALREADY_RESERVED] = "already_reserved",
        [CLAIM_RELEASED] = "released",
        [CLAIM_NOT_RESERVED] = "not_reserved",
        [CLAIM_RELEASED_BY_OPERATOR] = "released_by_operator",
    };
    return names[outcome];
}

/* What has been decided in this batch and is not in the house yet. Keys are seats or owners; both are few, so one
 * small open-addressing table each is enough. */
struct decided {
    uint64_t *keys;
    struct claim **claims;
    size_t mask;
};

static struct decided decided_create(struct arena *arena, size_t count)
{
    size_t size = 16;
    while (size < count * 2)
        size *= 2;
    return (struct decided){.keys = ARENA_NEW_ARRAY(arena, uint64_t, size),
                            .claims = ARENA_NEW_ARRAY(arena, struct claim *, size),
                            .mask = size - 1};
}

/* The slot of the key, or the free one where it would stand. Keys are never 0. */
static size_t decided_slot(const struct decided *decided, uint64_t key)
{
    size_t slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & decided->mask;
    while (decided->keys[slot] && decided->keys[slot] != key)
        slot = (slot + 1) & decided->mask;
    return slot;
}

static struct claim *decided_find(const struct decided *decided, uint64_t key)
{
    return decided->claims[decided_slot(decided, key)];
}

static void decided_set(struct decided *decided, uint64_t key, struct claim *claim)
{
    size_t slot = decided_slot(decided, key);
    decided->keys[slot] = key;
    decided->claims[slot] = claim;
}

struct batch {
    struct tx *tx;
    struct office *office;
    struct claim **claims; /* in the order of their sequence */
    uint64_t *owners;      /* theirs */
    size_t count;
    int64_t seats, free, now;
    int64_t next_seat; /* no lower seat is free, but for those in seat_taken */
    struct decided by_seat, by_owner;
};

static int by_sequence(const void *a, const void *b)
{
    int64_t first = (*(struct claim *const *)a)->sequence, second = (*(struct claim *const *)b)->sequence;
    return (first > second) - (first < second);
}

static bool wants_seat(const struct claim *claim)
{
    return claim->kind == CLAIM_LOWEST || claim->kind == CLAIM_BY_SEQUENCE;
}

/* Locks the house, numbers the claims and puts them in order. Giving back needs no number. */
static bool lock_and_number(struct batch *batch)
{
    int64_t draws = 0, highest_given = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct claim *claim = batch->claims[i];
        draws += wants_seat(claim) && claim->given_sequence == 0;
        if (claim->given_sequence > highest_given)
            highest_given = claim->given_sequence;
    }
    struct office *office = batch->office;
    struct rows *rows =
        tx_query(batch->tx, &LOCK_HOUSE, DB_PARAMS(DB_INT(office->id), DB_INT(draws), DB_INT(highest_given)));
    if (!rows_next(rows))
        return false;
    office->batch_generation = row_int(rows, "generation");
    office->batch_version = row_int(rows, "version");
    batch->seats = row_int(rows, "seats");
    int64_t next = row_int(rows, "sequence") - draws + 1;
    for (size_t i = 0; i < batch->count; i++) {
        struct claim *claim = batch->claims[i];
        claim->sequence = !wants_seat(claim) ? 0 : claim->given_sequence ? claim->given_sequence : next++;
    }
    if (highest_given)
        qsort(batch->claims, batch->count, sizeof(*batch->claims), by_sequence);
    return !tx_failed(batch->tx);
}

static void add_change(struct batch *batch, int64_t seat, uint64_t owner)
{
    struct office *office = batch->office;
    office->batch_changes[office->batch_change_count++] = (struct house_seat){.seat = seat, .owner = owner};
}

bool claim_find(struct tx *tx, int64_t house, struct claim *claim)
{
    struct rows *rows = tx_query(tx, &SELECT_HOLDER, DB_PARAMS(DB_INT(house), DB_TEXT(claim->user)));
    if (!rows_next(rows))
        return false;
    claim->seat = row_int(rows, "seat_id");
    claim->claimed_at = row_int(rows, "claimed_at");
    claim->sequence = row_int(rows, "sequence");
    return true;
}

/* The seat that the user has already, if any: decided in this batch, or in the database. */
static bool find_holder(struct batch *batch, struct claim *claim, uint64_t owner)
{
    const struct claim *earlier = decided_find(&batch->by_owner, owner);
    if (earlier && str_eq(earlier->user, claim->user)) {
        claim->seat = earlier->seat;
        claim->claimed_at = earlier->claimed_at;
        claim->sequence = earlier->sequence;
        return true;
    }
    if (!house_has_owner(batch->office->house, owner))
        return false;
    /* None: another user with the same hash, or given back earlier in this batch. */
    return claim_find(batch->tx, batch->office->id, claim);
}

static int64_t lowest_free(struct batch *batch)
{
    int64_t seat = batch->next_seat;
    do {
        seat = house_next_free(batch->office->house, seat);
    } while (seat && decided_find(&batch->by_seat, (uint64_t)seat) && ++seat);
    batch->next_seat = seat ? seat + 1 : batch->seats + 1;
    return seat;
}

static void take_seat(struct batch *batch, struct claim *claim, int64_t seat, uint64_t owner)
{
    claim->outcome = CLAIM_CLAIMED;
    claim->seat = seat;
    claim->claimed_at = batch->now;
    claim->remaining = --batch->free;
    decided_set(&batch->by_seat, (uint64_t)seat, claim);
    decided_set(&batch->by_owner, owner, claim);
    add_change(batch, seat, owner);
}

static void decide_claim(struct batch *batch, struct claim *claim, uint64_t owner)
{
    if (find_holder(batch, claim, owner)) {
        claim->outcome = CLAIM_ALREADY_RESERVED;
        return;
    }
    int64_t seat = claim->kind == CLAIM_LOWEST ? lowest_free(batch) : claim->sequence;
    if (seat == 0 || seat > batch->seats) {
        claim->outcome = CLAIM_SOLD_OUT;
    } else if (claim->kind == CLAIM_BY_SEQUENCE &&
               (decided_find(&batch->by_seat, (uint64_t)seat) || !house_is_free(batch->office->house, seat))) {
        claim->outcome = CLAIM_SEAT_TAKEN;
        claim->seat = seat;
    } else {
        take_seat(batch, claim, seat, owner);
    }
}

/* At once in the database; the seat can be taken again from the next batch on. */
static void release_seat(struct batch *batch, struct claim *claim)
{
    struct rows *rows = tx_query(batch->tx, &DELETE_CLAIM, DB_PARAMS(DB_INT(batch->office->id), DB_TEXT(claim->user)));
    if (!rows_next(rows)) {
        claim->outcome = CLAIM_NOT_RESERVED;
        return;
    }
    claim->outcome = CLAIM_RELEASED;
    claim->seat = row_int(rows, "seat_id");
    claim->remaining = ++batch->free;
    add_change(batch, claim->seat, 0);
}

static void free_seat(struct batch *batch, struct claim *claim)
{
    struct rows *rows =
        tx_query(batch->tx, &DELETE_SEAT, DB_PARAMS(DB_INT(batch->office->id), DB_INT(claim->given_seat)));
    if (!rows_next(rows)) {
        claim->outcome = CLAIM_NOT_RESERVED;
        return;
    }
    claim->outcome = CLAIM_RELEASED_BY_OPERATOR;
    claim->owner = arena_copy(tx_arena(batch->tx), row_text(rows, "user_id"));
    claim->seat = claim->given_seat;
    claim->remaining = ++batch->free;
    add_change(batch, claim->seat, 0);
}

static void name_owners(struct batch *batch)
{
    batch->owners = ARENA_NEW_ARRAY(tx_arena(batch->tx), uint64_t, batch->count);
    for (size_t i = 0; i < batch->count; i++)
        batch->owners[i] = house_owner(batch->claims[i]->user);
    house_prefetch_owners(batch->office->house, batch->owners, batch->count);
}

static void decide(struct batch *batch)
{
    for (size_t i = 0; i < batch->count && !tx_failed(batch->tx); i++)
        switch (batch->claims[i]->kind) {
        case CLAIM_LOWEST:
        case CLAIM_BY_SEQUENCE: decide_claim(batch, batch->claims[i], batch->owners[i]); break;
        case CLAIM_RELEASE: release_seat(batch, batch->claims[i]); break;
        case CLAIM_FREE_SEAT: free_seat(batch, batch->claims[i]); break;
        }
}

static void clear_result(struct claim *claim)
{
    claim->seat = claim->claimed_at = claim->remaining = claim->sequence = 0;
    claim->announcement = NULL;
}

bool claim_run_batch(struct tx *tx, void *items[], size_t count, void *context)
{
    struct office *office = context;
    struct batch batch = {.tx = tx, .office = office, .count = count, .now = clock_wall_ms(), .next_seat = 1};
    batch.claims = ARENA_NEW_ARRAY(tx_arena(tx), struct claim *, count);
    for (size_t i = 0; i < count; i++) {
        batch.claims[i] = items[i];
        clear_result(batch.claims[i]);
    }
    office->batch_change_count = 0;
    struct house_state before = house_state(office->house);
    if (!lock_and_number(&batch))
        return false;
    struct house_version now = {.generation = office->batch_generation,
                                .version = office->batch_version - 1,
                                .seats = batch.seats};
    bool is_current = office_bring_up_to_date(tx, office, &before, &now);
    office->batch_moved_house |= house_state(office->house).edits != before.edits;
    if (!is_current)
        return false;

    batch.free = house_state(office->house).free;
    batch.by_seat = decided_create(tx_arena(tx), count);
    batch.by_owner = decided_create(tx_arena(tx), count);
    name_owners(&batch);
    decide(&batch);
    if (tx_failed(tx))
        return false;
    return office->batch_change_count ? claim_write(tx, office, batch.claims, count, batch.now)
                                      : tx_exec_last(tx, &TAKE_VERSION_BACK, DB_PARAMS(DB_INT(office->id)));
}

/* After the commit and before any of the tasks goes on: whoever reads next sees it. */
void claim_batch_settled(void *items[], size_t count, enum db_outcome outcome, void *context)
{
    struct office *office = context;
    bool moved_house = office->batch_moved_house;
    office->batch_moved_house = false;
    switch (outcome) {
    case DB_OK: break;
    case DB_UNCERTAIN: house_distrust(office->house); return;
    case DB_CONSTRAINT:
        log_error("the database refused a seat that this server took for free; reading the house anew",
                  LOG_C("schedule", office->show.schedule));
        house_forget(office->house);
        return;
    default:
        /* It may have been brought to what another unit of the same transaction wrote, and lost with it. */
        if (moved_house)
            house_distrust(office->house);
        return;
    }
    if (count == 0 || office->batch_change_count == 0)
        return;
    house_apply(office->house, office->batch_generation, office->batch_version, office->batch_changes,
                office->batch_change_count);
    if (office->announcer)
        ((struct claim *)items[0])->announcement = announcement_write(office);
}
