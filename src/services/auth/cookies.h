/* The cookies that carry a browser's tokens: no script reads them, and they travel with requests of our own pages. */
#ifndef AUTH_COOKIES_H
#define AUTH_COOKIES_H

#include "http/request.h"

enum cookie_secure { COOKIE_SECURE_AUTO, COOKIE_SECURE_ALWAYS, COOKIE_SECURE_NEVER };

/* None of these does anything for a page of another site. */
void cookies_set(struct request *rq, struct str access_token, struct str refresh_token);
void cookies_clear(struct request *rq);

/* For a year: who comes back has the same seat. */
void cookies_set_guest(struct request *rq, struct str value);

/* ptr NULL when there is none. */
struct str cookies_refresh_token(const struct request *rq);

/* The secret of a question to Google (google.h), for as long as somebody may take on Google's page; empty: it is
 * forgotten. */
void cookies_set_google(struct request *rq, struct str secret);
struct str cookies_google(const struct request *rq); /* ptr NULL: none */

#endif
