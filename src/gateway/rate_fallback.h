/*
 * Rate limits of this server alone, for the time when the shared state cannot be reached: requests are let through then
 * (fail open), but not without any limit. A window slides by two counters, this minute's and the last one's by the part
 * of it that still counts; the memory is fixed, and of too many callers the one who came longest ago is forgotten. Any
 * thread.
 */
#ifndef GATEWAY_RATE_FALLBACK_H
#define GATEWAY_RATE_FALLBACK_H

#include "base/str.h"

struct rate_fallback;

struct rate_fallback *rate_fallback_create(void); /* NULL: no memory */
void rate_fallback_destroy(struct rate_fallback *fallback);

/* True when the caller has come fewer than `limit` times within the window, and counts this time. */
bool rate_fallback_admits(struct rate_fallback *fallback, struct str caller, uint32_t limit, int64_t window_ms);
/* The same without counting. */
bool rate_fallback_would_admit(struct rate_fallback *fallback, struct str caller, uint32_t limit, int64_t window_ms);

#endif
