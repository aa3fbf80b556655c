/* Files compiled into the binary (http/static_files.h): pages, scripts, the OpenAPI document. */
#ifndef SYSTEM_PAGES_H
#define SYSTEM_PAGES_H

#include "http/request.h"

/* The file at the request's own path; 404 when there is none. */
void get_page(struct request *rq);

/* For the sign-in page: whether there is a way in besides the password. */
void get_signin_options(struct request *rq);

#endif
