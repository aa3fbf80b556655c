/* Handlers that take, give back and show a user's seat. */
#ifndef TICKET_RESERVATION_ROUTES_H
#define TICKET_RESERVATION_ROUTES_H

#include "services/ticket/fcfs.h"

void post_reservation_fcfs(struct request *rq);
void post_reservation(struct request *rq);
void get_reservation(struct request *rq);
void delete_reservation(struct request *rq);

/* The answer to a seat given back. */
void reservation_reply_released(struct request *rq, struct office *office, const struct claim *claim);

#endif
