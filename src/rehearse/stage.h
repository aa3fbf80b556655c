/*
 * The house that a rehearsal sells. By default it is one of its own, the schedule "rehearsal", opened with as many
 * seats as wanted; schedules whose names begin so are for rehearsals and are emptied without asking. Any other that
 * exists is left alone unless the operator says --reset.
 */
#ifndef REHEARSE_STAGE_H
#define REHEARSE_STAGE_H

#include "rehearse/plan.h"

struct stage {
    int64_t seats;
    struct buf taken; /* seats that were taken before, as ranges; owned */
};

/* Asks the servers, opens the house where the plan says so, and waits until every server shows it. Notes in the plan
 * which header names the user. False with a sentence in *problem. stage_free in any case. */
__attribute__((warn_unused_result)) bool stage_prepare(struct plan *plan, struct stage *stage, struct buf *problem);
void stage_free(struct stage *stage);

#endif
