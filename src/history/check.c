#include "history/check.h"

void check_history(const struct evidence *evidence, struct verdict *verdict)
{
    check_answers(evidence, verdict);
    check_sequences(evidence, verdict);
    check_maps(evidence, verdict);
    if (evidence->book->cut_off)
        return; /* every other proof needs to know that no request is missing */
    check_users(evidence, verdict);
    check_owners(evidence, verdict);
    check_order(evidence, verdict);
    check_counts(evidence, verdict);
    check_duplicates(evidence, verdict);
}
