/* Numbers with a unit as people write them: 1.5s, 200ms, 1000/s, 5%. */
#ifndef REHEARSE_QUANTITY_H
#define REHEARSE_QUANTITY_H

#include "base/buf.h"

/* 250us, 200ms, 10s, 2m, 1h; at most a day. */
bool quantity_duration(struct str text, int64_t *ns);

/* 1000/s, 90/m, or a bare number per second; at most 10,000,000 per second. */
bool quantity_rate(struct str text, double *per_second);

/* 5% or 0.1%: from 0 to 1. */
bool quantity_share(struct str text, double *share);

/* Digits with at most one point; not negative. */
bool quantity_number(struct str text, double *number);

/* "1.24 ms", with three digits that count. */
void quantity_add_duration(struct buf *out, double ns);

/* "12,345" */
void quantity_add_count(struct buf *out, uint64_t count);

#endif
