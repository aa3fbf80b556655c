/*
 * The query of a request, read before anything acts on the request: what cannot be
 * read, or is not known where something would change, is refused. A parameter that
 * is dropped silently lets a request mean something else (another house, say).
 */
#ifndef HTTP_QUERY_H
#define HTTP_QUERY_H

#include "http/request.h"

/* Fills rq->query from the head. False: 400 has been answered, and says why. */
bool query_accept(struct request *rq);

#endif
