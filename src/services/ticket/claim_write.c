#include "services/ticket/claim_write.h"

#include "base/clock.h"

static const struct statement INSERT_RESET = {
    .sql = "INSERT INTO reservation_history (house_id, version, at, user_id, outcome) "
           "VALUES ($1, $2, $3, 'operator', 'reset')",
};
/* A whole batch: its history, and the seats that were taken, in one round trip. */
static const struct statement INSERT_ALL = {
    .postgres = "WITH attempt AS MATERIALIZED ("
                "SELECT * FROM unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[]) "
                "AS t (seat, person, name, phone, outcome, number)), "
                "taken AS ("
                "INSERT INTO claims (house_id, seat_id, user_id, user_name, phone, claimed_at, sequence) "
                "SELECT $1, seat, person, name, phone, $3, number FROM attempt WHERE outcome = 'claimed') "
                "INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
                "SELECT $1, $2, $3, person, nullif(seat, 0), outcome, nullif(number, 0) FROM attempt",
};
/* The same for SQLite, which inserts into one table at a time. OR FAIL: whatever fails undoes the whole unit, so the
 * statement need not be able to undo itself, for which SQLite would copy every page that it changes. */
static const struct statement INSERT_TAKEN = {
    .sqlite = "INSERT OR FAIL INTO claims (place, user_id, user_name, phone, claimed_at, sequence) "
              "SELECT " SQLITE_PLACE("c1") ", c2, c3, c4, $2, c5 FROM unnest($3, $4, $5, $6, $7)",
};
static const struct statement INSERT_ATTEMPTS = {
    .sqlite = "INSERT OR FAIL INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
              "SELECT $1, $2, $3, c2, nullif(c1, 0), c4, nullif(c3, 0) FROM unnest($4, $5, $6, $7)",
};
/* When all of them got a seat, as nearly always while there are seats. */
static const struct statement INSERT_SUCCESSES = {
    .sqlite = "INSERT OR FAIL INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
              "SELECT $1, $2, $3, c2, c1, 'claimed', c3 FROM unnest($4, $5, $6)",
};

bool claim_note_reset(struct tx *tx, int64_t house, int64_t version)
{
    return tx_exec(tx, &INSERT_RESET, DB_PARAMS(DB_INT(house), DB_INT(version), DB_INT(clock_wall_ms())));
}

/* Column by column. */
struct columns {
    int64_t *seats, *numbers;
    struct str *people, *names, *phones, *outcomes;
    size_t count;
};

static struct columns columns_create(struct arena *arena, size_t room)
{
    return (struct columns){
        .seats = ARENA_NEW_ARRAY(arena, int64_t, room),
        .numbers = ARENA_NEW_ARRAY(arena, int64_t, room),
        .people = ARENA_NEW_ARRAY(arena, struct str, room),
        .names = ARENA_NEW_ARRAY(arena, struct str, room),
        .phones = ARENA_NEW_ARRAY(arena, struct str, room),
        .outcomes = ARENA_NEW_ARRAY(arena, struct str, room),
    };
}

static void columns_add(struct columns *columns, const struct claim *claim)
{
    size_t i = columns->count++;
    columns->seats[i] = claim->seat;
    columns->numbers[i] = claim->sequence;
    columns->people[i] = claim->kind == CLAIM_FREE_SEAT ? claim->owner : claim->user;
    columns->names[i] = claim->user_name;
    columns->phones[i] = claim->phone;
    columns->outcomes[i] = str_from(claim_outcome_name(claim->outcome));
}

static bool write_postgres(struct tx *tx, const struct office *office, const struct columns *all, int64_t now)
{
    return tx_exec_last(tx, &INSERT_ALL,
                        DB_PARAMS(DB_INT(office->id), DB_INT(office->batch_version), DB_INT(now),
                                  DB_INTS(all->seats, all->count), DB_TEXTS(all->people, all->count),
                                  DB_TEXTS(all->names, all->count), DB_TEXTS(all->phones, all->count),
                                  DB_TEXTS(all->outcomes, all->count), DB_INTS(all->numbers, all->count)));
}

static struct columns only_taken(struct arena *arena, struct claim **claims, size_t count)
{
    struct columns taken = columns_create(arena, count);
    for (size_t i = 0; i < count; i++)
        if (claims[i]->outcome == CLAIM_CLAIMED)
            columns_add(&taken, claims[i]);
    return taken;
}

static bool write_sqlite(struct tx *tx, const struct office *office, const struct columns *all,
                         const struct columns *taken, int64_t now)
{
    tx_exec(tx, &INSERT_TAKEN,
            DB_PARAMS(DB_INT(office->id), DB_INT(now), DB_INTS(taken->seats, taken->count),
                      DB_TEXTS(taken->people, taken->count), DB_TEXTS(taken->names, taken->count),
                      DB_TEXTS(taken->phones, taken->count), DB_INTS(taken->numbers, taken->count)));
    const struct db_value attempts[] = {
        DB_INT(office->id),
        DB_INT(office->batch_version),
        DB_INT(now),
        DB_INTS(all->seats, all->count),
        DB_TEXTS(all->people, all->count),
        DB_INTS(all->numbers, all->count),
        DB_TEXTS(all->outcomes, all->count), /* last: successes need none */
    };
    const size_t count = sizeof(attempts) / sizeof(attempts[0]);
    return taken->count == all->count ? tx_exec_last(tx, &INSERT_SUCCESSES, attempts, count - 1)
                                      : tx_exec_last(tx, &INSERT_ATTEMPTS, attempts, count);
}

static bool changed_seat(const struct claim *claim)
{
    return claim->outcome == CLAIM_CLAIMED || claim->outcome == CLAIM_RELEASED ||
           claim->outcome == CLAIM_RELEASED_BY_OPERATOR;
}

/* What was refused has changed nothing: its lines are history.h's. */
bool claim_write(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    struct columns all = columns_create(tx_arena(tx), count);
    for (size_t i = 0; i < count; i++)
        if (changed_seat(claims[i]))
            columns_add(&all, claims[i]);
    if (tx_is_postgres(tx))
        return write_postgres(tx, office, &all, now);
    struct columns taken = only_taken(tx_arena(tx), claims, count);
    return write_sqlite(tx, office, &all, &taken, now);
}
