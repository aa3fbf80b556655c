/* Handlers for the operator; the route table asks for the token. */
#ifndef TICKET_ADMIN_ROUTES_H
#define TICKET_ADMIN_ROUTES_H

#include "http/request.h"

void get_admin_overview(struct request *rq);
void delete_admin_seat(struct request *rq);

#endif
