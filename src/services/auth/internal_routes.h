/* For other services, through the internal listener only. */
#ifndef AUTH_INTERNAL_ROUTES_H
#define AUTH_INTERNAL_ROUTES_H

struct request;

void post_users_batch(struct request *rq);
void post_verified_identity(struct request *rq);

#endif
