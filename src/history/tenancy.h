/*
 * Who had which seat from when to when, as far as the answers tell. A tenancy begins somewhere between the start of
 * the request that got the seat and the first moment at which we know of it, and ends somewhere between the first
 * request that may have given it back and the first proof that it is over. What lies between is possible but not
 * certain; a violation must follow from what is certain.
 *
 * A claim without an answer may have got a seat: if the user is seen with one later, that is a tenancy too; if not,
 * it is one of the "floating" claims, which may have taken any seat at any time after their start.
 */
#ifndef HISTORY_TENANCY_H
#define HISTORY_TENANCY_H

#include "history/book.h"

struct tenancy {
    int64_t seat;
    int64_t sequence; /* below 0: not known */
    int64_t begins_from, begins_by;
    int64_t ends_from; /* the first request that may have ended it; NEVER */
    int64_t ends_by;   /* it is certainly over then; NEVER */
    uint32_t user;
    uint32_t line;        /* that tells of it first */
    uint32_t ending_line; /* of the request that certainly ended it; 0: none */
};

struct tenancies {
    struct tenancy *list;
    size_t count, room;
    int64_t *floating; /* their starts, rising after tenancies_finish */
    size_t floating_count, floating_room;
    uint32_t *order; /* entries by user, then start */
};

/* Of all users. False when memory is short. */
__attribute__((warn_unused_result)) bool tenancies_find(struct tenancies *tenancies, const struct book *book);
void tenancies_free(struct tenancies *tenancies);

/* The entries of the user whose first is order[*at]: how many. */
size_t tenancies_of_user(const struct tenancies *tenancies, const struct book *book, size_t at);

#endif
