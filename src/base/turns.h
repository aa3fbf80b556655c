/*
 * How long a thread keeps the processor while others wait for it: its turn. The kernel's own turns of some milliseconds
 * suit work that nobody waits for. Here somebody does, several times per request: a loop for its turn, then the
 * database's thread, then the loop again.
 */
#ifndef BASE_TURNS_H
#define BASE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* For the calling thread, and those that it starts afterwards. Kernels before 6.12 give everybody the same turns; then,
 * and where a sandbox knows no more, only the niceness changes. False when not even that. */
bool turns_set(int64_t turn_ns, int niceness);

/* The niceness as it is. */
bool turns_shorten(int64_t turn_ns);

#endif
