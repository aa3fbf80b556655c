/* From where a browser's page has sent a request. Browsers say so, and pages cannot change it: in Sec-Fetch-Site, or,
 * older ones and without TLS, in Origin. */
#ifndef HTTP_ORIGIN_H
#define HTTP_ORIGIN_H

#include "http/request.h"

enum origin {
    ORIGIN_UNKNOWN, /* nothing is said: no browser, or a very old one */
    ORIGIN_OURS,
    ORIGIN_OTHER,
};

enum origin request_origin(const struct request *rq);

#endif
