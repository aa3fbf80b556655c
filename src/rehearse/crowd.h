/*
 * A thread full of users. It has connections, an event loop and its share of the arrivals; it sends each request at its
 * moment, whatever became of those before, and counts what comes back. The main thread makes crowds, looks at their
 * tallies while they run, and ends them.
 *
 * Sockets are watched with epoll directly: a moment must be met to the microsecond, and libuv's timers know
 * milliseconds only.
 */
#ifndef REHEARSE_CROWD_H
#define REHEARSE_CROWD_H

#include "history/history.h"
#include "rehearse/plan.h"
#include "rehearse/tally.h"

struct crowd;

/* Crowd number `index` of plan->threads; takes every so-manieth user. `start_ns` is when the first may come, by
 * clock_mono_ns. The history may be NULL. NULL when there is no memory or no thread. */
struct crowd *crowd_start(const struct plan *plan, size_t index, int64_t start_ns, struct history_writer *history);

/* Adds what has happened so far. */
void crowd_tally(struct crowd *crowd, struct tally *into);

/* Has everybody come, and has every request ended? */
bool crowd_is_done(struct crowd *crowd);

/* Have all users come? Requests may be in progress, and some may ask again. */
bool crowd_has_come(struct crowd *crowd);

/* Nobody comes any more, and nobody asks again. */
void crowd_close_doors(struct crowd *crowd);

/* Ends the thread, also with requests in progress, which then have no answer. The tally stays readable. */
void crowd_stop(struct crowd *crowd);

void crowd_destroy(struct crowd *crowd);

#endif
