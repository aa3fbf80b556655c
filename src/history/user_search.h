/*
 * Is there any order in which one user's requests can have happened, each between its start and its answer, such that
 * every answer was true? The user has one seat or none; requests without an answer may have happened at any time
 * after their start, or not at all.
 *
 * The search goes through the requests by time and keeps every state that is still possible; just before an answer,
 * the request must have happened (Lowe, "Testing for linearizability"). Bounded: too many requests at once or too many
 * states are "undecided".
 */
#ifndef HISTORY_USER_SEARCH_H
#define HISTORY_USER_SEARCH_H

#include "history/book.h"

enum search_outcome {
    SEARCH_POSSIBLE,
    SEARCH_IMPOSSIBLE,
    SEARCH_UNDECIDED, /* too tangled */
};

/* One request as the search sees it. */
struct search_step {
    int64_t start, end; /* NEVER: it may or may not have happened */
    int64_t seat;       /* SEAT_UNTOLD: any */
    uint32_t entry;     /* whose it is; for the caller */
    enum search_kind {
        STEP_CLAIM,    /* none → seat */
        STEP_RELEASE,  /* seat → none */
        STEP_HAS,      /* seat */
        STEP_HAS_NONE, /* none */
        STEP_LEFT_OUT, /* not looked at */
    } kind;
};

/* `steps` in the order of start. *failed_at: the step whose answer cannot be true, for SEARCH_IMPOSSIBLE. */
enum search_outcome user_search(const struct search_step *steps, size_t count, size_t *failed_at);

#endif
