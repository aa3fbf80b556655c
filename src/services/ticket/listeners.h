/*
 * Those who watch a house live (Server-Sent Events). Each loop has its own list
 * and tells its listeners itself; a change is announced to the loops, which
 * collect changes for a moment and send them as one event, so that a fast sale
 * does not drown them. A listener that cannot keep up is dropped; its browser
 * comes back with the last event it saw and gets the rest, or everything.
 */
#ifndef TICKET_LISTENERS_H
#define TICKET_LISTENERS_H

#include "http/request.h"
#include "services/ticket/office.h"

struct listeners;

/* An array, one for each loop. NULL when there is no memory. */
struct listeners *listeners_create(struct office *office, size_t loops);
void listeners_destroy(struct listeners *listeners);

/* On a loop that ends: closes what belongs to it. */
void listeners_close_loop(struct listeners *listeners, size_t loops);

/* A handler: makes the answer a stream, beginning with what the client has not seen. */
void listeners_add(struct listeners *listeners, struct request *rq);

#endif
