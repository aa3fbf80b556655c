/* The result of a rehearsal for people and for programs. Each adds its whole text to `out`. */
#ifndef REHEARSE_REPORT_H
#define REHEARSE_REPORT_H

#include "rehearse/rehearse.h"

void report_text(struct buf *out, const struct rehearsal *rehearsal);
void report_html(struct buf *out, const struct rehearsal *rehearsal);
void report_json(struct buf *out, const struct rehearsal *rehearsal);

/* What a reader should know before believing the figures; a line each, often none. */
void report_notes(struct buf *out, const struct rehearsal *rehearsal);

#endif
