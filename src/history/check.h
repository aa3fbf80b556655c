/*
 * The checks. Each takes the history and tells the verdict what it found; none believes another, and none knows the
 * server's code. What each proves, and what not, is told in docs/decisions.
 */
#ifndef HISTORY_CHECK_H
#define HISTORY_CHECK_H

#include "history/tenancy.h"
#include "history/verdict.h"

struct evidence {
    const struct book *book;
    const struct tenancies *tenancies;
    const char *witness; /* who told of the final state: "the database"; NULL when nobody did */
};

/* All of them. */
void check_history(const struct evidence *evidence, struct verdict *verdict);

/* One by one, for check_history and the tests. */
void check_answers(const struct evidence *evidence, struct verdict *verdict);    /* each by itself */
void check_users(const struct evidence *evidence, struct verdict *verdict);      /* one user's answers fit together */
void check_owners(const struct evidence *evidence, struct verdict *verdict);     /* one seat, one owner */
void check_order(const struct evidence *evidence, struct verdict *verdict);      /* seats follow the numbers */
void check_sequences(const struct evidence *evidence, struct verdict *verdict);  /* numbers follow the time */
void check_counts(const struct evidence *evidence, struct verdict *verdict);     /* sold out, remaining, maps */
void check_maps(const struct evidence *evidence, struct verdict *verdict);       /* never backwards */
void check_duplicates(const struct evidence *evidence, struct verdict *verdict); /* refused for a reason */

#endif
