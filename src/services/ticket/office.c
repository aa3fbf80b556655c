#include "services/ticket/office.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/ticket/claim.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    BATCH_CLAIMS = 1024,
};

static const struct statement SELECT_HOUSE = {
    .sql = "SELECT id, title, title_ko, venue, venue_ko, starts_at, seats, generation, version FROM houses WHERE "
           "schedule = $1",
};
static const struct statement INSERT_HOUSE = {
    .sql = "INSERT INTO houses (schedule, title, title_ko, venue, venue_ko, starts_at, seats) "
           "VALUES ($1, $2, $3, $4, $5, $6, $7) "
           "ON CONFLICT DO NOTHING",
};
static const struct statement DELETE_CLAIMS = {
    .sqlite = "DELETE FROM claims WHERE place > " SQLITE_PLACE("$2") " AND place <= " SQLITE_PLACE("$3"),
    .postgres = "DELETE FROM claims WHERE house_id = $1 AND seat_id > $2 AND seat_id <= $3",
};
/* The condition decides under the row's lock: of two operators who have seen one generation, one resets it. */
static const struct statement RESET_HOUSE = {
    .sql = "UPDATE houses SET seats = $2, generation = generation + 1, version = version + 1, sequence = 0 "
           "WHERE id = $1 AND generation = $3",
};
static const struct statement SELECT_GENERATION = {
    .sql = "SELECT id, generation FROM houses WHERE schedule = $1",
};

/* Opening. */

struct opening {
    struct str schedule;
    int64_t create_seats;
    struct office *office;
    bool found;
};

static void copy_text(char *out, size_t size, struct str text)
{
    size_t length = text.len < size - 1 ? text.len : size - 1;
    if (length)
        memcpy(out, text.ptr, length);
    out[length] = '\0';
}

/* Until there is a catalogue, a new house gets a show of this name, in a week, in the evening of Seoul. */
static bool insert_house(struct tx *tx, struct str schedule, int64_t seats)
{
    enum { DAYS = 7, EVENING_UTC_MINUTES = 10 * 60 + 30 };
    const int64_t day_ms = INT64_C(24) * 60 * 60 * MS_PER_S;
    int64_t starts_at = (clock_wall_ms() / day_ms + DAYS) * day_ms + EVENING_UTC_MINUTES * INT64_C(60) * MS_PER_S;
    return tx_exec(tx, &INSERT_HOUSE,
                   DB_PARAMS(DB_TEXT(schedule), DB_TEXT(STR("An evening with Tickettock")),
                             DB_TEXT(STR("티켓톡과 함께하는 저녁")), DB_TEXT(STR("The Small Hall")),
                             DB_TEXT(STR("소극장")), DB_INT(starts_at), DB_INT(seats)));
}

static bool create_unit(struct tx *tx, void *argument)
{
    struct opening *opening = argument;
    return insert_house(tx, opening->schedule, opening->create_seats);
}

static bool open_unit(struct tx *tx, void *argument)
{
    struct opening *opening = argument;
    struct office *office = opening->office;
    struct show *show = &office->show;
    struct rows *rows = tx_query(tx, &SELECT_HOUSE, DB_PARAMS(DB_TEXT(opening->schedule)));
    opening->found = rows_next(rows);
    if (!opening->found)
        return !tx_failed(tx);
    office->id = row_int(rows, "id");
    snprintf(office->lock_prefix, sizeof(office->lock_prefix), "{fcfs:%lld}:dup:", (long long)office->id);
    copy_text(show->schedule, sizeof(show->schedule), opening->schedule);
    copy_text(show->title, sizeof(show->title), row_text(rows, "title"));
    copy_text(show->title_ko, sizeof(show->title_ko), row_text(rows, "title_ko"));
    copy_text(show->venue, sizeof(show->venue), row_text(rows, "venue"));
    copy_text(show->venue_ko, sizeof(show->venue_ko), row_text(rows, "venue_ko"));
    show->starts_at = row_null(rows, "starts_at") ? 0 : row_int(rows, "starts_at");
    struct house_version now = {
        .generation = row_int(rows, "generation"),
        .version = row_int(rows, "version"),
        .seats = row_int(rows, "seats"),
    };
    struct house_state before = house_state(office->house); /* nobody else knows it yet */
    return office_bring_up_to_date(tx, office, &before, &now);
}

static enum office_outcome read_office(struct db *db, struct opening *opening)
{
    if (db_read(db, open_unit, opening) != DB_OK)
        return OFFICE_UNAVAILABLE;
    if (opening->found)
        return OFFICE_OPEN;
    if (opening->create_seats == CREATE_NO_HOUSE)
        return OFFICE_UNKNOWN;
    if (db_write(db, create_unit, opening, NULL) != DB_OK || db_read(db, open_unit, opening) != DB_OK)
        return OFFICE_UNAVAILABLE;
    return opening->found ? OFFICE_OPEN : OFFICE_UNAVAILABLE;
}

enum office_outcome office_open(struct db *db, struct str schedule, int64_t create_seats, struct office **result)
{
    struct office *office = calloc(1, sizeof(*office));
    if (!office)
        return OFFICE_UNAVAILABLE;
    office->db = db;
    office->house = house_create();
    office->batch_changes = calloc(BATCH_CLAIMS, sizeof(*office->batch_changes));
    office->batch = db_batch_create(db, claim_run_batch, claim_batch_settled, office, BATCH_CLAIMS);
    enum office_outcome outcome = OFFICE_UNAVAILABLE;
    if (office->house && office->batch_changes && office->batch) {
        struct opening opening = {.schedule = schedule, .create_seats = create_seats, .office = office};
        outcome = read_office(db, &opening);
    }
    if (outcome == OFFICE_OPEN)
        *result = office;
    else
        office_close(office);
    return outcome;
}

void office_close(struct office *office)
{
    if (office->batch)
        db_batch_destroy(office->batch);
    if (office->house)
        house_destroy(office->house);
    free(office->batch_changes);
    free(office);
}

/* A new, empty house. */

struct creating {
    struct str schedule;
    int64_t seats;
    bool created;
    int64_t generation;
};

static bool create_new_unit(struct tx *tx, void *argument)
{
    struct creating *creating = argument;
    if (!insert_house(tx, creating->schedule, creating->seats))
        return false;
    creating->created = tx_changes(tx) == 1;
    struct rows *rows = tx_query(tx, &SELECT_GENERATION, DB_PARAMS(DB_TEXT(creating->schedule)));
    if (!rows_next(rows))
        return false;
    int64_t id = row_int(rows, "id");
    creating->generation = row_int(rows, "generation");
    return !creating->created || claim_note_reset(tx, id, 0);
}

enum reset_outcome office_create(struct db *db, struct str schedule, int64_t seats, int64_t *generation)
{
    struct creating creating = {.schedule = schedule, .seats = seats};
    if (db_write(db, create_new_unit, &creating, NULL) != DB_OK)
        return RESET_UNAVAILABLE;
    *generation = creating.generation;
    return creating.created ? RESET_DONE : RESET_OTHER_GENERATION;
}

struct resetting {
    struct office *office;
    int64_t seats, expected;
    bool done;
    int64_t generation;
};

static bool reset_unit(struct tx *tx, void *argument)
{
    struct resetting *resetting = argument;
    int64_t id = resetting->office->id;
    struct house_version now;
    tx_exec(tx, &RESET_HOUSE, DB_PARAMS(DB_INT(id), DB_INT(resetting->seats), DB_INT(resetting->expected)));
    resetting->done = tx_changes(tx) == 1;
    bool read = office_read_version(tx, resetting->office, &now);
    resetting->generation = read ? now.generation : 0;
    if (!read || !resetting->done)
        return !tx_failed(tx);
    for (int64_t from = 0; from < SEATS_MAX && !tx_failed(tx); from += SEATS_PER_STATEMENT)
        tx_exec(tx, &DELETE_CLAIMS, DB_PARAMS(DB_INT(id), DB_INT(from), DB_INT(from + SEATS_PER_STATEMENT)));
    return claim_note_reset(tx, id, now.version);
}

enum reset_outcome office_reset(struct office *office, int64_t seats, int64_t expected, int64_t *generation)
{
    struct resetting resetting = {.office = office, .seats = seats, .expected = expected};
    enum db_outcome outcome = db_write(office->db, reset_unit, &resetting, NULL);
    if (outcome != DB_OK || !office_refresh(office))
        house_distrust(office->house);
    if (outcome != DB_OK)
        return RESET_UNAVAILABLE;
    *generation = resetting.generation;
    return resetting.done ? RESET_DONE : RESET_OTHER_GENERATION;
}

/* The house as a picture. */

int64_t office_row_length(int64_t seats)
{
    return seats <= 200 ? 10 : seats <= 5000 ? 25 : 100;
}

/* Rows are A … Z, AA, AB …, like columns of a sheet. */
size_t seat_name(int64_t seat, int64_t row_length, char out[SEAT_NAME_MAX])
{
    int64_t row = (seat - 1) / row_length, number = (seat - 1) % row_length + 1;
    char letters[8];
    size_t count = 0, length = 0;
    for (int64_t left = row + 1; left > 0; left = (left - 1) / 26)
        letters[count++] = (char)('A' + (left - 1) % 26);
    while (count)
        out[length++] = letters[--count];
    out[length++] = '-';
    return length + format_uint(out + length, (uint64_t)number);
}
