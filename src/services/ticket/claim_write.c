#include "services/ticket/claim_write.h"

#include "base/clock.h"

static const struct statement INSERT_CLAIM = {
    .sqlite = "INSERT INTO claims (house_id, seat_id, user_id, user_name, phone, claimed_at, sequence) "
              "VALUES ($1, $2, $3, $4, $5, $6, $7)",
};
static const struct statement INSERT_HISTORY = {
    .sql = "INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
           "VALUES ($1, $2, $3, $4, $5, $6, $7)",
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

static struct db_value int_or_null(int64_t value)
{
    return value ? DB_INT(value) : DB_NULL;
}

bool claim_note_history(struct tx *tx, int64_t house, struct str user, const char *outcome)
{
    return tx_exec(tx, &INSERT_HISTORY,
                   DB_PARAMS(DB_INT(house), DB_NULL, DB_INT(clock_wall_ms()), DB_TEXT(user), DB_NULL,
                             DB_TEXT(str_from(outcome)), DB_NULL));
}

static void write_one_by_one(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    for (size_t i = 0; i < count; i++) {
        const struct claim *claim = claims[i];
        if (claim->outcome == CLAIM_CLAIMED)
            tx_exec(tx, &INSERT_CLAIM,
                    DB_PARAMS(DB_INT(office->id), DB_INT(claim->seat), DB_TEXT(claim->user), DB_TEXT(claim->user_name),
                              DB_TEXT(claim->phone), DB_INT(now), DB_INT(claim->sequence)));
        tx_exec(tx, &INSERT_HISTORY,
                DB_PARAMS(DB_INT(office->id), DB_INT(office->batch_version), DB_INT(now), DB_TEXT(claim->user),
                          int_or_null(claim->seat), DB_TEXT(str_from(claim_outcome_name(claim->outcome))),
                          int_or_null(claim->sequence)));
    }
}

static void write_as_arrays(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    struct arena *arena = tx_arena(tx);
    int64_t *seats = ARENA_NEW_ARRAY(arena, int64_t, count), *numbers = ARENA_NEW_ARRAY(arena, int64_t, count);
    struct str *people = ARENA_NEW_ARRAY(arena, struct str, count), *names = ARENA_NEW_ARRAY(arena, struct str, count);
    struct str *phones = ARENA_NEW_ARRAY(arena, struct str, count);
    struct str *outcomes = ARENA_NEW_ARRAY(arena, struct str, count);
    for (size_t i = 0; i < count; i++) {
        seats[i] = claims[i]->seat;
        numbers[i] = claims[i]->sequence;
        people[i] = claims[i]->user;
        names[i] = claims[i]->user_name;
        phones[i] = claims[i]->phone;
        outcomes[i] = str_from(claim_outcome_name(claims[i]->outcome));
    }
    tx_exec(tx, &INSERT_ALL,
            DB_PARAMS(DB_INT(office->id), DB_INT(office->batch_version), DB_INT(now), DB_INTS(seats, count),
                      DB_TEXTS(people, count), DB_TEXTS(names, count), DB_TEXTS(phones, count),
                      DB_TEXTS(outcomes, count), DB_INTS(numbers, count)));
}

bool claim_write(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    (tx_is_postgres(tx) ? write_as_arrays : write_one_by_one)(tx, office, claims, count, now);
    return !tx_failed(tx);
}
