/*
 * The box office of one schedule: its house in memory, and the batch through
 * which every change of its seats goes. Offices are opened at first use and stay
 * open; ticket.c owns them.
 */
#ifndef TICKET_OFFICE_H
#define TICKET_OFFICE_H

#include "db/db.h"
#include "services/ticket/edition.h"
#include "services/ticket/house.h"

enum { SCHEDULE_MAX = 64, TITLE_MAX = 128, SEATS_MAX = 1000000 };

/* In SQLite a house ($1) and a seat of it are one number, claims.place. */
#define SQLITE_PLACE(seat) "($1 << 20) + " seat
_Static_assert(SEATS_MAX < 1 << 20, "all seats of a house come before those of the next one");

/* What people see of the show; fixed when the house is opened. */
struct show {
    char schedule[SCHEDULE_MAX + 1];
    char title[TITLE_MAX + 1], title_ko[TITLE_MAX + 1];
    char venue[TITLE_MAX + 1], venue_ko[TITLE_MAX + 1];
    int64_t starts_at; /* wall ms; 0: not known */
};

struct office {
    struct office *next;
    int64_t id;           /* houses.id */
    char lock_prefix[40]; /* of its duplicate locks: "{fcfs:1}:dup:" */
    struct show show;
    struct house *house;
    struct db *db;
    _Atomic int64_t sequence;                    /* the database's, as of the last refresh */
    struct db_batch *batch;                      /* of struct claim (claim.h) */
    struct announcer *announcer;                 /* NULL where no other server listens */
    struct listeners *listeners;                 /* one per loop; opened and closed by ticket.c */
    struct rendering *renderings[EDITION_FORMS]; /* the list of seats for readers; opened and closed by ticket.c */

    /* of the batch under way, on its database thread */
    int64_t batch_generation, batch_version;
    struct house_seat *batch_changes;
    size_t batch_change_count;
    bool batch_moved_house; /* it has brought the house up to date */
};

enum office_outcome {
    OFFICE_OPEN,
    OFFICE_UNKNOWN, /* there is no such schedule */
    OFFICE_UNAVAILABLE,
};

enum { CREATE_NO_HOUSE = -1 };

/* From a task. `create_seats`: when there is no house for the schedule yet, makes one with so many seats. */
enum office_outcome office_open(struct db *db, struct str schedule, int64_t create_seats, struct office **office);
void office_close(struct office *office);

/* What the database says of a house. */
struct house_version {
    int64_t generation, version, seats;
};

/* No statement about a large house comes near its time limit. */
enum { SEATS_PER_STATEMENT = 20000 };

/* Inside a unit. False: there is no such house any more, or the statement failed. */
bool office_read_version(struct tx *tx, struct office *office, struct house_version *now);

/* Inside a unit: brings the house in memory to the state of the database, `now`, which the caller has read in the same
 * unit; `before` is the state of the house before the unit's first statement (house.h). */
bool office_bring_up_to_date(struct tx *tx, struct office *office, const struct house_state *before,
                             const struct house_version *now);

/* From a task: the same by itself. False when the database is not to be had. */
bool office_refresh(struct office *office);

/* From a task: compares this office and those behind it with the database in one statement, and brings up to date those
 * that differ. False when the database is not to be had. */
bool office_refresh_all(struct office *first);

enum reset_outcome {
    RESET_DONE,
    RESET_OTHER_GENERATION, /* the house is not the one that was expected; nothing has changed */
    RESET_UNAVAILABLE,
};

/* From a task: a new, empty house in place of the one of the expected generation. *generation: the house's now, unless
 * the database is not to be had. */
enum reset_outcome office_reset(struct office *office, int64_t seats, int64_t expected, int64_t *generation);

/* From a task: the same where no house is expected. */
enum reset_outcome office_create(struct db *db, struct str schedule, int64_t seats, int64_t *generation);

/* How many seats stand in a row of a house of this size. */
int64_t office_row_length(int64_t seats);

/* "A-5"; returns its length. */
enum { SEAT_NAME_MAX = 16 };
size_t seat_name(int64_t seat, int64_t row_length, char out[SEAT_NAME_MAX]);

#endif
