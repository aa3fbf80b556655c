/*
 * The only source of time. Tests move both clocks with clock_move; nothing else
 * in the project calls time(), gettimeofday() or clock_gettime().
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/arena.h"

#include <stdint.h>

/* 64 bits wide, so that a product with an int cannot overflow. */
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)
#define MS_PER_S INT64_C(1000)

/* For durations and deadlines; never goes back. */
int64_t clock_mono_ns(void);

/* What this thread has had of a processor: for what a piece of work costs, whoever else is at work. */
int64_t clock_thread_ns(void);

/* Since 1970, UTC; may jump when the machine's clock is set. */
int64_t clock_wall_ms(void);

/* For tests: both clocks run this much ahead from now on. */
void clock_move(int64_t ms);

/* "2026-11-15T20:13:00.123Z" */
enum { CLOCK_RFC3339_SIZE = 25 };
void clock_format_rfc3339(int64_t wall_ms, char out[CLOCK_RFC3339_SIZE]);

/* Accepts what clock_format_rfc3339 writes, also without milliseconds. */
bool clock_parse_rfc3339(struct str s, int64_t *wall_ms);

/* "Sun, 15 Nov 2026 20:13:00 GMT", for HTTP. */
enum { CLOCK_HTTP_SIZE = 30 };
void clock_format_http(int64_t wall_ms, char out[CLOCK_HTTP_SIZE]);

#endif
