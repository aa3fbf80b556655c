/* Line charts as SVG inside a page: colours come from the page's style by class, so they follow light and dark. */
#ifndef REHEARSE_CHART_H
#define REHEARSE_CHART_H

#include "base/buf.h"

enum { CHART_LINES_MAX = 4 };

struct chart_line {
    const char *name;
    const char *class;
    const double *values; /* `count` of them; below 0: no value here */
};

struct chart {
    const char *title;
    struct chart_line lines[CHART_LINES_MAX];
    size_t line_count, count;
    bool durations;  /* values are ns and the scale is logarithmic; else they are counts and it begins at 0 */
    double x_step;   /* of the x axis between two values */
    bool percentile; /* x is how often 9 is written: 1 is 90 %, 2 is 99 %; else seconds */
};

void chart_add(struct buf *out, const struct chart *chart);

/* Text for inside HTML. */
void html_add(struct buf *out, struct str text);

#endif
