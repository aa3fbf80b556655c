/*
 * A history in memory, ready to be judged: every request with what its answer means, names as numbers, maps apart.
 * What a server's final state says joins it as answers that came last. Owner: whoever called book_read, who calls
 * book_free. One thread.
 */
#ifndef HISTORY_BOOK_H
#define HISTORY_BOOK_H

#include "history/history.h"
#include "history/names.h"

/* What an answer means for the user's seat. */
enum answer {
    ANSWER_UNKNOWN,   /* a claim or release that may have happened, or may yet happen: no answer, or 5xx */
    ANSWER_NOTHING,   /* changed nothing and tells nothing: contention, bad request … */
    ANSWER_GIVEN,     /* the seat is the user's from now on */
    ANSWER_RELEASED,  /* the seat was the user's, and is free from now on */
    ANSWER_HAS,       /* the user has the seat */
    ANSWER_HAS_NONE,  /* the user has no seat */
    ANSWER_SOLD_OUT,  /* the user has none, and there is none */
    ANSWER_DUPLICATE, /* another attempt is in flight */
};

#define NEVER INT64_MAX /* the end of a request without an answer */

enum { SEAT_UNTOLD = -1, LINE_OF_WITNESS = 0, OPERATIONS_MAX = 10000000 };

struct entry {
    int64_t start, end;
    int64_t seat;                /* SEAT_UNTOLD when the answer names none */
    int64_t sequence, remaining; /* below 0: not told */
    uint32_t user, address;
    uint32_t line;        /* LINE_OF_WITNESS: the final state says so */
    uint8_t kind, answer; /* enum history_kind, enum answer */
};

struct seat_range {
    uint32_t first, last;
};

struct map_entry {
    int64_t start, end;
    int64_t generation, version, remaining; /* below 0: not told */
    uint32_t line;
    int32_t server;
    bool has_seats; /* it was no 304 */
    size_t first_range, range_count;
};

struct book {
    struct str schedule;
    int64_t seats;
    bool start_known;      /* which seats were taken before the first request; else any may have been */
    uint64_t *start_taken; /* as bits; seat 1 is bit 0 */
    int64_t start_taken_count;
    int64_t servers;                /* below 0: not known */
    int64_t map_lag, duplicate_ttl; /* ns */
    bool lock_user, lock_address;   /* what the duplicate lock is on */
    bool cut_off;                   /* the recorder died: its last requests are missing */

    struct names users, addresses;
    struct entry *entries; /* in the order of the file; those of the witness behind */
    size_t entry_count, entry_room, recorded_count;
    struct map_entry *maps;
    size_t map_count, map_room;
    struct seat_range *ranges;
    size_t range_count, range_room;
    struct {
        uint32_t line, user;
        struct str owner;
    } * strangers; /* answers in the name of somebody else */
    size_t stranger_count, stranger_room;
    int64_t last_time; /* nothing is recorded after it */
};

/* What the operator may say about the server; below 0 or ptr NULL: as the history says, else the default. */
struct book_options {
    int64_t map_lag_ms, duplicate_ttl_ms;
    struct str duplicate_policy;
};

/* False with *problem in the arena: the file cannot be read or does not make sense. */
__attribute__((warn_unused_result)) bool book_read(struct book *book, const char *path,
                                                   const struct book_options *options, struct arena *arena,
                                                   struct str *problem);
void book_free(struct book *book);

/* False when memory is short. */
bool book_add_entry(struct book *book, const struct entry *entry);

/* The seats that the map shows as taken, as ranges. Returns what is wrong, or NULL. */
const char *book_add_map(struct book *book, const struct map_entry *map, struct str taken);

struct str book_user(const struct book *book, uint32_t user);

static inline bool bit_is_set(const uint64_t *words, int64_t seat)
{
    return words[(seat - 1) / 64] >> ((seat - 1) % 64) & 1;
}

static inline void bit_set(uint64_t *words, int64_t seat, bool on)
{
    uint64_t bit = UINT64_C(1) << ((seat - 1) % 64);
    words[(seat - 1) / 64] = on ? words[(seat - 1) / 64] | bit : words[(seat - 1) / 64] & ~bit;
}

#endif
