/* Who may call a route, by its row in the route table. */
#ifndef GATEWAY_ACCESS_H
#define GATEWAY_ACCESS_H

#include "http/request.h"

/* True: go on. False: it has answered. `admin_token` empty: the operator's routes are off. */
bool access_allowed(struct request *rq, struct str admin_token);

#endif
