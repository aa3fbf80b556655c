/* The options of `tickettock rehearse`: one table makes the reader and the help. */
#ifndef REHEARSE_PLAN_OPTIONS_H
#define REHEARSE_PLAN_OPTIONS_H

#include "rehearse/plan.h"

/* A command line that is being read. */
struct plan_reading {
    struct plan *plan;
    struct buf *problem;
    struct str urls[PLAN_TARGETS_MAX];
    size_t url_count;
};

struct plan_option {
    const char *name, *value, *text; /* value NULL: a switch */
    /* False with a sentence in reading->problem. */
    bool (*read)(struct plan_reading *reading, const char *value);
};

extern const struct plan_option plan_options[];
extern const size_t plan_option_count;

/* Adds "OPTION: expected … instead of '…'."; false. */
bool plan_refuse(struct plan_reading *reading, const char *option, const char *expected, const char *found);

bool plan_read_arrival(struct plan_reading *reading, const char *value);
bool plan_read_admin_token(struct plan_reading *reading, const char *value);
bool plan_read_gateway_token(struct plan_reading *reading, const char *value);

#endif
