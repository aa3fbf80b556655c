/*
 * A box office in a few lines, with clients that talk to it all at once, for tests of the checker: what it writes is a
 * history that a correct server could have made, with every kind of ambiguity. With `bug` it makes one mistake again
 * and again.
 *
 * Time goes from commit to commit; each request starts some time before its commit and is answered some time after.
 */
#ifndef TESTS_HISTORY_MODEL_H
#define TESTS_HISTORY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum model_bug {
    BUG_NONE,
    BUG_NO_STATUS_GUARD,      /* a taken seat is given again */
    BUG_ANSWER_BEFORE_COMMIT, /* what was answered is forgotten in a crash */
    BUG_LOST_UPDATE,          /* a claim is answered, but never stored */
    BUG_RESURRECTED_SEAT,     /* what was given back is still there */
    BUG_SEAT_OUT_OF_ORDER,    /* the second lowest free seat instead of the lowest */
    BUG_SECOND_SEAT,          /* one user gets another seat */
    BUG_LOCK_NEVER_RELEASED,  /* the duplicate lock of a user stays */
    BUG_STALE_MAP,            /* a server that stops listening goes on showing */
    BUG_MAP_BACKWARDS,        /* an old map is shown again */
    BUG_PHANTOM_SOLD_OUT,     /* sold out, while seats are free */
    BUG_SEQUENCE_TWICE,
    BUG_SEQUENCE_BACKWARDS, /* numbers are drawn in blocks per server */
    BUG_WRONG_COUNT,        /* one seat remains too many */
    BUG_ANOTHER_USERS_SEAT, /* "already reserved" tells somebody else's seat */
    BUG_SEAT_PAST_THE_END,
    BUG_COUNT
};

struct model_options {
    uint64_t seed;
    int64_t operations;
    int64_t seats, users, servers;
    int unanswered_percent; /* some of them happened, some did not, some happen later */
    int release_percent, read_percent, map_permille, double_click_percent;
    bool some_taken;    /* before the first request */
    bool start_unknown; /* and the history does not tell */
    enum model_bug bug;
};

/* Writes the history to the file; false when it could not. */
bool model_run(const struct model_options *options, const char *path);

#endif
