/*
 * Which refused attempts get a line of history. Everybody's first ones do; who
 * goes on and on, or a whole crowd before a house that is sold out, is counted
 * and gets a line now and then. So nobody fills the disk by being refused.
 *
 * Bounded memory: addresses share the places of a table, by a hash that nobody
 * outside can foresee. Any thread; no lock.
 */
#ifndef TICKET_HISTORY_SAMPLE_H
#define TICKET_HISTORY_SAMPLE_H

#include "base/str.h"

#include <stdatomic.h>

enum {
    SAMPLE_ADDRESSES = 16384, /* places; powers of two */
    SAMPLE_HOUSES = 1024,
    SAMPLE_ADDRESS_BURST = 20, /* lines at once, then one in so many ms */
    SAMPLE_ADDRESS_EVERY_MS = 10 * 1000,
    SAMPLE_HOUSE_BURST = 1000,
    SAMPLE_HOUSE_EVERY_MS = 1000,
    SAMPLE_ALL_BURST = 10000,
    SAMPLE_ALL_EVERY_MS = 100,
};

struct history_sample {
    uint64_t salt;
    _Atomic int64_t addresses[SAMPLE_ADDRESSES], houses[SAMPLE_HOUSES],
        all; /* when each will be empty again, mono ms */
};

void history_sample_init(struct history_sample *sample);

/* `network`: the client's (base/cidr.h). True: write the line. */
bool history_sample_take(struct history_sample *sample, int64_t house, struct str network, int64_t now_ms);

#endif
