/* Buyers without an account (gateway/guest.h). */
#ifndef AUTH_GUEST_ROUTES_H
#define AUTH_GUEST_ROUTES_H

struct request;

void guest_post(struct request *rq);

#endif
