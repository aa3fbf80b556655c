/* What a user may see and change of their own account. */
#ifndef AUTH_ACCOUNT_ROUTES_H
#define AUTH_ACCOUNT_ROUTES_H

struct request;

void get_me(struct request *rq);
void patch_me(struct request *rq);
void delete_me(struct request *rq);
void put_password(struct request *rq);
void get_sessions(struct request *rq);
void delete_sessions(struct request *rq);
void delete_session(struct request *rq);
void get_logins(struct request *rq);

#endif
