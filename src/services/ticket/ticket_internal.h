/* What the files of the ticket service share. */
#ifndef TICKET_TICKET_INTERNAL_H
#define TICKET_TICKET_INTERNAL_H

#include "services/app.h"
#include "services/ticket/claim.h"
#include "services/ticket/history.h"
#include "services/ticket/office.h"
#include "services/ticket/ticket.h"
#include "tables/config.h"

/* The office that the request means (scheduleId, or the default); when there is none, it has answered and returns NULL.
 */
struct office *ticket_office_of(struct request *rq);

/* The same for a schedule by name. */
struct office *ticket_office_named(struct request *rq, struct str schedule);

/* Opens it, creating a house with so many seats where there is none, or CREATE_NO_HOUSE. From a task. */
enum office_outcome ticket_open_office(struct ticket *ticket, struct str schedule, int64_t create_seats,
                                       struct office **office);

struct history *ticket_history(struct ticket *ticket);
void ticket_count(struct ticket *ticket, enum ticket_attempt attempt);

#endif
