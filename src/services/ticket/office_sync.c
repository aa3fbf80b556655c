/*
 * The copy of a house follows the database. A few missed versions are read from
 * the history, but only when it has each of them: it may have been pruned. Else
 * the house is loaded anew.
 */
#include "services/ticket/office.h"

#include <stdlib.h>

enum { CATCH_UP_VERSIONS = 5000, COMPARED_AT_ONCE = 256 };

static const struct statement SELECT_VERSION = {
    .sql = "SELECT generation, version, seats, sequence FROM houses WHERE id = $1",
};
static const struct statement SELECT_VERSIONS = {
    .sqlite = "SELECT id, generation, version, sequence FROM houses WHERE id IN (SELECT c1 FROM unnest($1))",
    .postgres = "SELECT id, generation, version, sequence FROM houses WHERE id = ANY ($1::bigint[])",
};
static const struct statement SELECT_CLAIMS = {
    .sqlite =
        "SELECT seat_id, user_id FROM claims WHERE place > " SQLITE_PLACE("$2") " AND place <= " SQLITE_PLACE("$3"),
    .postgres = "SELECT seat_id, user_id FROM claims WHERE house_id = $1 AND seat_id > $2 AND seat_id <= $3",
};
static const struct statement SELECT_CHANGES = {
    .sql = "SELECT version, seat_id, user_id, outcome FROM reservation_history "
           "WHERE house_id = $1 AND version >= $2 AND version <= $3 ORDER BY version, id",
};

/* A growing list of seats; `failed` when memory ran out. */
struct seat_list {
    struct house_seat *seats;
    size_t count, room;
    bool failed;
};

static void seat_list_add(struct seat_list *list, struct house_seat seat)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 1024;
        struct house_seat *seats = realloc(list->seats, room * sizeof(*seats));
        list->failed |= !seats;
        if (!seats)
            return;
        list->seats = seats;
        list->room = room;
    }
    list->seats[list->count++] = seat;
}

static bool load_house(struct tx *tx, struct office *office, const struct house_state *before,
                       const struct house_version *now)
{
    struct seat_list taken = {0};
    for (int64_t from = 0; from < now->seats && !tx_failed(tx); from += SEATS_PER_STATEMENT) {
        struct rows *rows = tx_query(tx, &SELECT_CLAIMS,
                                     DB_PARAMS(DB_INT(office->id), DB_INT(from), DB_INT(from + SEATS_PER_STATEMENT)));
        while (rows_next(rows))
            seat_list_add(&taken, (struct house_seat){.seat = row_int(rows, "seat_id"),
                                                      .owner = house_owner(row_text(rows, "user_id"))});
    }
    struct house_picture picture = {.generation = now->generation,
                                    .version = now->version,
                                    .seats = now->seats,
                                    .taken = taken.seats,
                                    .count = taken.count};
    bool loaded = !tx_failed(tx) && !taken.failed && house_load(office->house, before, &picture);
    free(taken.seats);
    return loaded;
}

/* The changes after `from`, up to `to`. False unless each version has its lines. The lines of `from` itself must still
 * be there: old lines go first, so none of a later version is missing. */
static bool read_changes(struct tx *tx, const struct office *office, int64_t from, int64_t to,
                         struct seat_list *changes)
{
    int64_t last = from ? from - 1 : 0;
    bool complete = true;
    struct rows *rows = tx_query(tx, &SELECT_CHANGES, DB_PARAMS(DB_INT(office->id), DB_INT(from), DB_INT(to)));
    while (rows_next(rows)) {
        int64_t version = row_int(rows, "version");
        complete &= version <= last + 1;
        last = version;
        bool claimed = str_eq(row_text(rows, "outcome"), STR("claimed"));
        bool released = str_starts(row_text(rows, "outcome"), STR("released")); /* or by an operator */
        if (version > from && (claimed || released))
            seat_list_add(changes, (struct house_seat){.seat = row_int(rows, "seat_id"),
                                                       .owner = claimed ? house_owner(row_text(rows, "user_id")) : 0});
    }
    return complete && last == to && !tx_failed(tx) && !changes->failed;
}

/* SQLite has one server, which misses nothing. */
static bool catch_up(struct tx *tx, struct office *office, const struct house_state *before, int64_t version)
{
    int64_t behind = version - before->version;
    if (!tx_is_postgres(tx) || behind < 0 || behind > CATCH_UP_VERSIONS)
        return false;
    struct seat_list changes = {0};
    bool complete = read_changes(tx, office, before->version, version, &changes);
    if (complete)
        house_catch_up(office->house, before, version, changes.seats, changes.count);
    free(changes.seats);
    return complete;
}

bool office_bring_up_to_date(struct tx *tx, struct office *office, const struct house_state *before,
                             const struct house_version *now)
{
    bool same_house = before->generation == now->generation;
    if (same_house && before->version == now->version && before->trusted)
        return true;
    return (same_house && catch_up(tx, office, before, now->version)) || load_house(tx, office, before, now);
}

bool office_read_version(struct tx *tx, struct office *office, struct house_version *now)
{
    struct rows *rows = tx_query(tx, &SELECT_VERSION, DB_PARAMS(DB_INT(office->id)));
    if (!rows_next(rows))
        return false;
    *now = (struct house_version){
        .generation = row_int(rows, "generation"),
        .version = row_int(rows, "version"),
        .seats = row_int(rows, "seats"),
    };
    office->sequence = row_int(rows, "sequence");
    return !tx_failed(tx);
}

static bool refresh_unit(struct tx *tx, void *argument)
{
    struct office *office = argument;
    struct house_state before = house_state(office->house);
    struct house_version now;
    return office_read_version(tx, office, &now) && office_bring_up_to_date(tx, office, &before, &now);
}

bool office_refresh(struct office *office)
{
    return db_read(office->db, refresh_unit, office) == DB_OK;
}

/* All of them. */

struct comparison {
    struct office *first;
    struct office *differing[COMPARED_AT_ONCE];
    size_t count;
};

static struct office *office_by_id(struct office *first, int64_t id)
{
    while (first && first->id != id)
        first = first->next;
    return first;
}

static bool compare_unit(struct tx *tx, void *argument)
{
    struct comparison *comparison = argument;
    int64_t ids[COMPARED_AT_ONCE];
    size_t id_count = 0;
    for (struct office *office = comparison->first; office && id_count < COMPARED_AT_ONCE; office = office->next)
        ids[id_count++] = office->id;
    comparison->count = 0;
    struct rows *rows = tx_query(tx, &SELECT_VERSIONS, DB_PARAMS(DB_INTS(ids, id_count)));
    while (rows_next(rows)) {
        struct office *office = office_by_id(comparison->first, row_int(rows, "id"));
        if (!office)
            continue;
        struct house_state state = house_state(office->house);
        office->sequence = row_int(rows, "sequence");
        if (!state.trusted || state.generation != row_int(rows, "generation") ||
            state.version != row_int(rows, "version"))
            comparison->differing[comparison->count++] = office;
    }
    return !tx_failed(tx);
}

bool office_refresh_all(struct office *first)
{
    struct comparison comparison = {.first = first};
    if (!first)
        return true;
    if (db_read(first->db, compare_unit, &comparison) != DB_OK)
        return false;
    for (size_t i = 0; i < comparison.count; i++)
        if (!office_refresh(comparison.differing[i]))
            house_distrust(comparison.differing[i]->house);
    return true;
}
