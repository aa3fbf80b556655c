/* The processors that this program may use, which may be fewer than the machine has: taskset, containers. */
#ifndef BASE_PROCESSORS_H
#define BASE_PROCESSORS_H

#include <stdbool.h>
#include <stddef.h>

/* Of the calling thread; at least 1. */
size_t processors_count(void);

/* The calling thread, and those that it starts afterwards, keep to the processor of that number among those of the
 * calling thread, counted from 0. False, and nothing changed, where there is none or the system does not allow it. */
bool processors_keep_to(size_t number);

#endif
