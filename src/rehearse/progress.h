/* How it goes, on standard error: a block that is drawn again on a terminal, else a line per second. */
#ifndef REHEARSE_PROGRESS_H
#define REHEARSE_PROGRESS_H

#include "rehearse/tally.h"

#include <stdio.h>

struct progress {
    FILE *out;
    bool terminal;
    int lines;                   /* of the block on the screen */
    uint64_t requests, answered; /* at the last showing */
    double seconds;
};

struct progress progress_start(FILE *out);
void progress_show(struct progress *progress, const struct tally *tally, double seconds);

#endif
