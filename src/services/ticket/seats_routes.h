/* Handlers that show the house: never names or phones. */
#ifndef TICKET_SEATS_ROUTES_H
#define TICKET_SEATS_ROUTES_H

#include "http/request.h"

void get_show(struct request *rq);
void get_seats(struct request *rq);
void get_seat(struct request *rq);
void get_seat_stream(struct request *rq);

#endif
