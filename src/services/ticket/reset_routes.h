/* The operator empties a house, or opens a new one. */
#ifndef TICKET_RESET_ROUTES_H
#define TICKET_RESET_ROUTES_H

#include "http/request.h"

void post_reset(struct request *rq);

#endif
