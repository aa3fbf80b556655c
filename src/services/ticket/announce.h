/*
 * Between the servers of a fleet: who has changed a house tells the others, so
 * that their copies follow within milliseconds. A message carries the change; a
 * server that missed one, or was cut off, reads the database. Every second each
 * server also compares its versions with the database's, in one statement for all
 * houses, in case the one who should have told died first.
 */
#ifndef TICKET_ANNOUNCE_H
#define TICKET_ANNOUNCE_H

#include "services/ticket/claim.h"

struct coord;
struct announcer;
struct ticket;

/* On the loop that will listen. */
struct announcer *announcer_start(struct coord *coord, struct ticket *ticket);
/* On the same loop, before it ends. */
void announcer_stop(struct announcer *announcer);
void announcer_free(struct announcer *announcer);

/* On the database thread: the message about the batch just committed; NULL when there is no memory
 * (the others find out by themselves). */
char *announcement_write(const struct office *office);

/* From a task: sends a claim's announcement, if it has one, and frees it. */
void announce(struct office *office, struct claim *claim);

/* From a task: the house is new altogether (a reset). */
void announce_reset(struct office *office);

#endif
