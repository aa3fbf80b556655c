/*
 * How long a thread keeps the processor while others wait for it: its turn. The kernel's own turns of some milliseconds
 * suit work that nobody waits for. Here somebody does, several times per request: a loop for its turn, then the
 * database's thread, then the loop again.
 *
 * Turns also say who goes first: a thread that wakes takes the processor from one whose turns are longer, but waits for
 * one whose turns are as long, perhaps until the clock's next tick, which is far away (4 ms at 250 Hz).
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURN_SHORTEST_NS 100000 /* the kernel's limit; for what whole batches of requests wait for */
#define TURN_SHORT_NS 400000    /* a request waits for a few of them */
#define TURN_LONG_NS 20000000   /* for work that everybody else may interrupt */

/* For the calling thread, and those that it starts afterwards. Kernels before 6.12 give everybody the same turns; then,
 * and where a sandbox knows no more, only the niceness changes. False when not even that. */
bool turns_set(int64_t turn_ns, int niceness);

/* The niceness as it is. */
bool turns_shorten(int64_t turn_ns);

#endif
