#include "services/ticket/claim_write.h"

#include "base/clock.h"
#include "base/log.h"

static const struct statement INSERT_CLAIM = {
    .sqlite = "INSERT INTO claims (house_id, seat_id, user_id, user_name, phone, claimed_at, sequence) "
              "VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING",
};
static const struct statement INSERT_CLAIMS = {
    .postgres = "INSERT INTO claims (house_id, seat_id, user_id, user_name, phone, claimed_at, sequence) "
                "SELECT $1, seat, person, name, phone, $6, number "
                "FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $7::bigint[]) AS t (seat, person, name, "
                "phone, number) "
                "ON CONFLICT DO NOTHING",
};
static const struct statement INSERT_HISTORY = {
    .sql = "INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
           "VALUES ($1, $2, $3, $4, $5, $6, $7)",
};
static const struct statement INSERT_HISTORIES = {
    .postgres = "INSERT INTO reservation_history (house_id, version, at, user_id, seat_id, outcome, sequence) "
                "SELECT $1, $2, $3, person, nullif(seat, 0), outcome, nullif(number, 0) "
                "FROM unnest($4::text[], $5::bigint[], $6::text[], $7::bigint[]) AS t (person, seat, outcome, number)",
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

static int64_t write_one_by_one(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    int64_t inserted = 0;
    for (size_t i = 0; i < count; i++) {
        const struct claim *claim = claims[i];
        if (claim->outcome == CLAIM_CLAIMED) {
            tx_exec(tx, &INSERT_CLAIM,
                    DB_PARAMS(DB_INT(office->id), DB_INT(claim->seat), DB_TEXT(claim->user), DB_TEXT(claim->user_name),
                              DB_TEXT(claim->phone), DB_INT(now), DB_INT(claim->sequence)));
            inserted += tx_changes(tx);
        }
        tx_exec(tx, &INSERT_HISTORY,
                DB_PARAMS(DB_INT(office->id), DB_INT(office->batch_version), DB_INT(now), DB_TEXT(claim->user),
                          int_or_null(claim->seat), DB_TEXT(str_from(claim_outcome_name(claim->outcome))),
                          int_or_null(claim->sequence)));
    }
    return inserted;
}

/* The claims as columns. */
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
    columns->people[i] = claim->user;
    columns->names[i] = claim->user_name;
    columns->phones[i] = claim->phone;
    columns->outcomes[i] = str_from(claim_outcome_name(claim->outcome));
}

static int64_t write_as_arrays(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    struct columns taken = columns_create(tx_arena(tx), count), all = columns_create(tx_arena(tx), count);
    for (size_t i = 0; i < count; i++) {
        columns_add(&all, claims[i]);
        if (claims[i]->outcome == CLAIM_CLAIMED)
            columns_add(&taken, claims[i]);
    }
    int64_t inserted = 0;
    if (taken.count) {
        tx_exec(tx, &INSERT_CLAIMS,
                DB_PARAMS(DB_INT(office->id), DB_INTS(taken.seats, taken.count), DB_TEXTS(taken.people, taken.count),
                          DB_TEXTS(taken.names, taken.count), DB_TEXTS(taken.phones, taken.count), DB_INT(now),
                          DB_INTS(taken.numbers, taken.count)));
        inserted = tx_changes(tx);
    }
    tx_exec(tx, &INSERT_HISTORIES,
            DB_PARAMS(DB_INT(office->id), DB_INT(office->batch_version), DB_INT(now), DB_TEXTS(all.people, all.count),
                      DB_INTS(all.seats, all.count), DB_TEXTS(all.outcomes, all.count),
                      DB_INTS(all.numbers, all.count)));
    return inserted;
}

bool claim_write(struct tx *tx, struct office *office, struct claim **claims, size_t count, int64_t now)
{
    int64_t expected = 0;
    for (size_t i = 0; i < count; i++)
        expected += claims[i]->outcome == CLAIM_CLAIMED;
    int64_t inserted = (tx_is_postgres(tx) ? write_as_arrays : write_one_by_one)(tx, office, claims, count, now);
    if (tx_failed(tx))
        return false;
    if (inserted == expected)
        return true;
    log_error("the database refused a seat that this server took for free; reading the house anew",
              LOG_C("schedule", office->show.schedule));
    house_forget(office->house);
    return false;
}
