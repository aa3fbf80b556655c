/* What every server of this kind has: health, readiness, metrics, documentation, pages. */
#ifndef SYSTEM_SYSTEM_H
#define SYSTEM_SYSTEM_H

#include "http/router.h"

extern const struct route system_routes[];
extern const size_t system_route_count;

#endif
