/* Where a request comes from, as sessions and the history of sign-ins remember it: cut to a length that is enough to
 * recognize one's own devices. The strings are in the request's arena. */
#ifndef AUTH_VISITOR_H
#define AUTH_VISITOR_H

#include "http/request.h"

enum { ADDRESS_MAX = 45, AGENT_MAX = 256 };

struct visitor {
    struct str address, agent;
};

struct visitor visitor_of(const struct request *rq);

#endif
