#include "services/ticket/claim_write.h"

#include "base/clock.h"

static const struct statement INSERT_HISTORY = {
    .sql = "INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
           "VALUES ($1, NULL, $2, $3, NULL, $4, NULL)",
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
    .sqlite = "INSERT OR FAIL INTO claims (house_id, seat_id, user_id, user_name, phone, claimed_at, sequence) "
              "SELECT $1, c1, c2, c3, c4, $3, c6 FROM unnest($4, $5, $6, $7, $8, $9) WHERE c5 = 'claimed'",
};
static const struct statement INSERT_ATTEMPTS = {
    .sqlite = "INSERT OR FAIL INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
              "SELECT $1, $2, $3, c2, nullif(c1, 0), c5, nullif(c6, 0) FROM unnest($4, $5, $6, $7, $8, $9)",
};

bool claim_note_history(struct tx *tx, int64_t house, struct str user, const char *outcome)
{
    return tx_exec(tx, &INSERT_HISTORY,
                   DB_PARAMS(DB_INT(house), DB_INT(clock_wall_ms()), DB_TEXT(user), DB_TEXT(str_from(outcome))));
}

bool claim_write(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
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
    const struct db_value params[] = {
        DB_INT(office->id),      DB_INT(office->batch_version), DB_INT(now),
        DB_INTS(seats, count),   DB_TEXTS(people, count),       DB_TEXTS(names, count),
        DB_TEXTS(phones, count), DB_TEXTS(outcomes, count),     DB_INTS(numbers, count),
    };
    const size_t param_count = sizeof(params) / sizeof(params[0]);
    if (tx_is_postgres(tx))
        return tx_exec_last(tx, &INSERT_ALL, params, param_count);
    return tx_exec(tx, &INSERT_TAKEN, params, param_count) && tx_exec_last(tx, &INSERT_ATTEMPTS, params, param_count);
}
