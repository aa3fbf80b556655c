/*
 * First come, first served: one request's way to a seat. Duplicate lock, then the
 * claim in its batch (claim.h), with a few more tries when others are in the way;
 * the lock is given back on every path.
 */
#ifndef TICKET_FCFS_H
#define TICKET_FCFS_H

#include "http/request.h"
#include "services/ticket/claim.h"

enum fcfs_outcome {
    FCFS_CLAIMED,
    FCFS_SOLD_OUT,
    FCFS_DUPLICATE,
    FCFS_ALREADY_RESERVED,
    FCFS_SEAT_TAKEN,
    FCFS_RELEASED,
    FCFS_NOT_RESERVED,
    FCFS_CONTENTION,   /* five tries failed */
    FCFS_UNAVAILABLE,  /* the database or the shared state cannot be reached */
    FCFS_COORD_FAILED, /* the shared state answered with an error */
};

/* Suspends; when it returns FCFS_CLAIMED or FCFS_RELEASED, that is on disk. */
enum fcfs_outcome fcfs_run(struct request *rq, struct office *office, struct claim *claim);

/* The same for an operator who frees a seat, whoever has it: FCFS_RELEASED, FCFS_NOT_RESERVED when it is free. */
enum fcfs_outcome fcfs_free_seat(struct request *rq, struct office *office, struct claim *claim);

#endif
