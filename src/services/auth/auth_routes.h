/* Signing up, in and out. */
#ifndef AUTH_AUTH_ROUTES_H
#define AUTH_AUTH_ROUTES_H

struct request;

void post_register(struct request *rq);
void post_login(struct request *rq);
void post_google_nonce(struct request *rq);
void post_google(struct request *rq);
void post_refresh(struct request *rq);
void post_logout(struct request *rq);
void post_verify_token(struct request *rq);

#endif
