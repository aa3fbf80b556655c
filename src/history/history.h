/*
 * The history of a rehearsal: what each request asked, what it was told, and when. `tickettock rehearse` writes
 * it, `tickettock check-history` judges the server by it. The file is JSON Lines, readable by eye and by jq:
 *
 *     {"tickettock":"history","version":1,"scheduleId":"demo","seats":500,"started":1763250000000,"servers":1,"taken":""}
 *     {"op":"claim","user":"u-1","start":1000,"end":2500,"status":200,"seat":1,"seq":1,"remaining":499,"server":0}
 *     {"op":"claim","user":"u-2","start":1100,"end":null,"status":null}
 *     {"op":"map","start":3000,"end":3900,"status":200,"server":0,"generation":1,"version":7,"taken":"1-5,9"}
 *     {"op":"end","count":3}
 *
 * Times are monotonic nanoseconds of the one recorder. Members that are not known are absent. A request that was
 * never answered has end and status null; it is written when the run ends. The last line tells that nothing is
 * missing: a recorder that died leaves a file without it, perhaps with half a line at its end.
 *
 * Writer: one per run, any thread may append. Reader: one thread. What they hand out is named below.
 */
#ifndef HISTORY_HISTORY_H
#define HISTORY_HISTORY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum history_kind {
    HISTORY_CLAIM,   /* POST …/fcfs: the lowest free seat */
    HISTORY_RELEASE, /* DELETE …/reservation */
    HISTORY_MINE,    /* GET …/reservation: the user's own seat */
    HISTORY_MAP,     /* GET …/seats: the seat map */
};

/* What stands in the first line. Strings with ptr NULL and numbers below 0 are not known. */
struct history_header {
    struct str schedule;
    int64_t seats;
    int64_t started;             /* wall ms */
    int64_t servers;             /* how many servers answered; 1 makes several checks sharper */
    struct str taken;            /* the seats taken before the first request, as ranges; "" for an empty house */
    struct str duplicate_policy; /* the server's FCFS_DUP_POLICY */
    int64_t duplicate_ttl_ms;    /* the server's FCFS_DUP_TTL */
    int64_t map_lag_ms;          /* how late another server's news may be in a map; 200 is promised */
};
#define HISTORY_HEADER_UNKNOWN                                                                                         \
    ((struct history_header){.started = -1, .servers = -1, .duplicate_ttl_ms = -1, .map_lag_ms = -1})

enum { HISTORY_NO_ANSWER = -1 };

/* One request. Numbers below 0 and strings with ptr NULL are not known; HISTORY_OP_UNKNOWN has nothing known. */
struct history_op {
    enum history_kind kind;
    struct str user;    /* absent for maps */
    struct str address; /* the client address that the server saw, if it may be another than everybody's */
    int64_t start;
    int64_t end;       /* HISTORY_NO_ANSWER: none came */
    int status;        /* HTTP; 0 when there was no answer */
    int server;        /* which of the servers, from 0 */
    struct str reason; /* as in the answer: sold_out, duplicate, … */
    struct str owner;  /* reserved_by, if it is somebody else than the user: a grave mistake */
    int64_t seat;      /* seat_id; 0: the answer said none */
    int64_t sequence;
    int64_t remaining;           /* remainingSeats */
    int64_t generation, version; /* of a map: its ETag is "house-generation-version" */
    struct str taken;            /* of a map that was not 304, as ranges: "1-5,9" */
};
#define HISTORY_OP_UNKNOWN                                                                                             \
    ((struct history_op){.end = HISTORY_NO_ANSWER,                                                                     \
                         .server = -1,                                                                                 \
                         .seat = -1,                                                                                   \
                         .sequence = -1,                                                                               \
                         .remaining = -1,                                                                              \
                         .generation = -1,                                                                             \
                         .version = -1})

/* Builds the text of a set of seats, "1-5,9": add the seats in rising order, then finish. */
struct seat_ranges {
    struct buf *out;
    int64_t first, last; /* of the range that is being gathered; 0: none */
};
void seat_ranges_add(struct seat_ranges *ranges, int64_t seat);
void seat_ranges_finish(struct seat_ranges *ranges);

/* Takes the first range off *rest: "1-5,9" gives 1 to 5. False at the end, or with *damaged set when it is none. */
bool seat_ranges_next(struct str *rest, int64_t *first, int64_t *last, bool *damaged);

/* Writing. */
struct history_writer;

/* NULL with a logged reason when the file cannot be made; one that exists is replaced. */
struct history_writer *history_writer_create(const char *path, const struct history_header *header);

/* Any thread. Lines are gathered and written together. A line that cannot be written (disk full) is told by
 * history_writer_close. */
void history_append(struct history_writer *writer, const struct history_op *op);

/* Writes out what is gathered, now and then for whoever follows the file. */
void history_writer_flush(struct history_writer *writer);

/* Writes the last line. False with a logged reason when anything could not be written. */
__attribute__((warn_unused_result)) bool history_writer_close(struct history_writer *writer);

/* Reading. */
struct history_reader;

enum history_outcome {
    HISTORY_OP,      /* here is one */
    HISTORY_END,     /* that was all, and nothing is missing */
    HISTORY_CUT_OFF, /* that was all that the recorder wrote before it died */
    HISTORY_DAMAGED, /* history_reader_problem tells what and where */
};

/* Reads the first line; NULL with *problem in the arena. */
struct history_reader *history_reader_open(const char *path, struct arena *arena, struct str *problem);
const struct history_header *history_reader_header(const struct history_reader *reader);

/* Strings of the op point into the reader and are gone with the next call. */
enum history_outcome history_reader_next(struct history_reader *reader, struct history_op *op);

/* Of the line that was read last; the first line of the file is 1. */
uint64_t history_reader_line(const struct history_reader *reader);
struct str history_reader_text(const struct history_reader *reader);
struct str history_reader_problem(const struct history_reader *reader);
void history_reader_close(struct history_reader *reader);

const char *history_kind_name(enum history_kind kind);

#endif
