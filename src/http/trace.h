/*
 * The id under which a request appears in logs and answers, here and at the servers that it has come from. The caller's
 * is taken over when it is valid: W3C `traceparent`, or Zipkin's `b3` in one header or in several; otherwise a new one
 * begins. Done for every request before anything else, so that also one that cannot be read gets its id.
 */
#ifndef HTTP_TRACE_H
#define HTTP_TRACE_H

#include "http/request.h"

/* Sets rq->trace. */
void trace_begin(struct request *rq);

#endif
