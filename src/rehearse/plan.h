/* Everything that is decided before a rehearsal begins. Made by plan_read on the main thread, then only read. */
#ifndef REHEARSE_PLAN_H
#define REHEARSE_PLAN_H

#include "rehearse/arrival.h"
#include "rehearse/persona.h"
#include "rehearse/target.h"
#include "rehearse/threshold.h"

enum {
    PLAN_TOKEN_MAX = 256,
    PLAN_TARGETS_MAX = 16,
    PLAN_THRESHOLDS_MAX = 16,
    PLAN_THREADS_MAX = 16,
    PLAN_SCHEDULE_MAX = 64,
    PLAN_HEADER_MAX = 64,
    PLAN_QUERY_MAX = 16 + 3 * PLAN_SCHEDULE_MAX,
    PLAN_RUN_BYTES = 12,
};

struct plan {
    struct target targets[PLAN_TARGETS_MAX];
    size_t target_count;
    bool owned; /* --i-own-this-server */

    struct arrival_curve curve;
    const char *arrival_text;
    uint64_t users;      /* 0: as many as come within the duration */
    int64_t duration_ns; /* 0: until all users have come */
    uint64_t seed;
    struct persona_shares personas;

    int64_t timeout_ns;
    uint64_t connections;
    uint64_t threads;
    bool forwarded_for;

    struct str schedule; /* empty: not said */
    int64_t seats;       /* -1: not said, sell what is there */
    bool reset;          /* may replace a house that is not a rehearsal's */
    struct str admin_token;
    struct str gateway_token; /* with which a server believes the header that names a user; empty: without */

    char run[PLAN_RUN_BYTES];              /* begins every user's name, another for each run */
    char user_header[PLAN_HEADER_MAX + 1]; /* as the server says */
    char query[PLAN_QUERY_MAX];            /* "?scheduleId=…" or "" */

    struct threshold thresholds[PLAN_THRESHOLDS_MAX];
    size_t threshold_count;
    const char *report, *json, *history; /* files, NULL for none */
    bool quiet;
};

/* Reads the command line; *problem gets a sentence when something is wrong. Nothing has been connected yet, but names
 * have been looked up. plan_free also after a failure. */
__attribute__((warn_unused_result)) bool plan_read(int argument_count, char **arguments, struct plan *plan,
                                                   struct buf *problem);
void plan_free(struct plan *plan);

/* Lines of a request that name its user by number, and an address to be believed; 0: one that no user has. */
void plan_name_user(const struct plan *plan, unsigned long long number, struct buf *out);
void plan_name_address(unsigned long long number, struct buf *out);

/* The options for --help. */
void plan_help(size_t columns, struct buf *out);

#endif
