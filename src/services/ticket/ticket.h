/*
 * The ticket service: who has which seat. This header is what others may use.
 * One struct ticket per server; command_serve.c owns it.
 */
#ifndef TICKET_TICKET_H
#define TICKET_TICKET_H

#include "http/router.h"

struct app;
struct db;
struct office;
struct ticket;

extern const struct route ticket_routes[];
extern const size_t ticket_route_count;

/* `loops`: how many the server has. NULL when there is no memory. */
struct ticket *ticket_create(struct app *app, size_t loops);
/* When no loop runs any more, before the database closes. */
void ticket_destroy(struct ticket *ticket);

/* On each loop. */
void ticket_loop_started(struct ticket *ticket, size_t index);
void ticket_loop_stopping(struct ticket *ticket);

/* Something is still to be written: the loop must go on for a moment. */
bool ticket_busy(struct ticket *ticket);

/* NULL when it works, else why not, in words for /readyz. */
const char *ticket_trouble(struct ticket *ticket);

/* What has happened since the start, by outcome, for metrics and the operator's page. */
enum ticket_attempt {
    ATTEMPT_CLAIMED,
    ATTEMPT_SOLD_OUT,
    ATTEMPT_DUPLICATE,
    ATTEMPT_ALREADY_RESERVED,
    ATTEMPT_SEAT_TAKEN,
    ATTEMPT_CONTENTION,
    ATTEMPT_RELEASED,
    ATTEMPT_RELEASED_BY_OPERATOR,
    ATTEMPT_NOT_RESERVED,
    ATTEMPT_FAILED,
    ATTEMPT_COUNT,
};
const char *ticket_attempt_name(enum ticket_attempt attempt);
uint64_t ticket_attempts(const struct ticket *ticket, enum ticket_attempt attempt);

/* Refused attempts without a line of history: left out of the sample, and lost because the database was behind. */
uint64_t ticket_history_left_out(const struct ticket *ticket);
uint64_t ticket_history_dropped(const struct ticket *ticket);

/* From a task, of a server or of a command: drops the name and the phone that the user gave with claims; the seats stay
 * theirs. False: the database is not to be had. */
__attribute__((warn_unused_result)) bool ticket_forget_person(struct db *reservations, struct str user);

/* For the service's own files. */
struct office *ticket_first_office(struct ticket *ticket);
struct office *ticket_office_by_id(struct ticket *ticket, int64_t id);

#endif
