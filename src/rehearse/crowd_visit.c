/* What users do: come, ask, and depending on who they are, ask again. */
#include "rehearse/crowd_internal.h"

#include "base/clock.h"
#include "base/random.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ATTEMPTS_MAX = 5,
    PAUSE_FIRST_MS = 200, /* before a second attempt when the server does not say; doubles each time */
    GIVE_BACK_MS = 1000,
};

static struct visit *visit_new(struct crowd *crowd)
{
    struct visit *visit = crowd->free_visits;
    if (visit)
        crowd->free_visits = visit->next_in_queue;
    else if (crowd->visit_count < VISITS_MAX && (visit = malloc(sizeof(*visit))))
        crowd->visit_count++;
    return visit;
}

void visit_free(struct crowd *crowd, struct visit *visit)
{
    visit->next_in_queue = crowd->free_visits;
    crowd->free_visits = visit;
}

static void come(struct crowd *crowd, uint64_t user, int64_t due_ns, enum persona persona)
{
    struct visit *visit = visit_new(crowd);
    if (!visit) {
        crowd->tally.requests++;
        crowd->tally.not_sent++;
        return;
    }
    *visit = (struct visit){
        .user = user,
        .due_ns = due_ns,
        .persona = persona,
        .kind = persona == PERSONA_READER ? HISTORY_MAP : HISTORY_CLAIM,
    };
    visit_start_request(crowd, visit);
}

void visit_arrive(struct crowd *crowd, uint64_t user, int64_t due_ns)
{
    enum persona persona = persona_of(&crowd->plan->personas, user, crowd->plan->seed);
    crowd->tally.users++;
    come(crowd, user, due_ns, persona);
    if (persona == PERSONA_DOUBLE_CLICK)
        come(crowd, user, due_ns, persona);
}

enum pool visit_pool(const struct crowd *crowd, const struct visit *visit)
{
    return visit->persona == PERSONA_ONE_IP && !crowd->plan->forwarded_for ? POOL_SHARED : POOL_OWN;
}

/* It waits for a connection now; links_serve finds one. */
void visit_start_request(struct crowd *crowd, struct visit *visit)
{
    enum pool pool = visit_pool(crowd, visit);
    visit->attempt++;
    visit->sent_ns = 0;
    visit->link = NULL;
    visit->next_in_queue = NULL;
    *crowd->queue_end[pool] = visit;
    crowd->queue_end[pool] = &visit->next_in_queue;
    visit->newer = NULL;
    visit->older = crowd->newest;
    *(crowd->newest ? &crowd->newest->newer : &crowd->oldest) = visit;
    crowd->newest = visit;
    crowd->tally.requests++;
    crowd->tally.waiting++;
}

static void leave_list(struct crowd *crowd, struct visit *visit)
{
    *(visit->older ? &visit->older->newer : &crowd->oldest) = visit->newer;
    *(visit->newer ? &visit->newer->older : &crowd->newest) = visit->older;
    crowd->tally.waiting--;
}

static bool may_try_again(enum end end, const struct answer *answer, const struct verdict *verdict)
{
    if (end != END_ANSWERED)
        return end != END_GAVE_UP && end != END_CUT_OFF;
    if (answer->status == 409)
        return !str_eq(verdict->reason, STR("already_reserved"));
    return answer->status == 429 || answer->status >= 500;
}

/* As long as the server says, or longer each time; and never all at the same moment. */
static int64_t pause_ns(const struct visit *visit, const struct answer *answer)
{
    int64_t least = (int64_t)PAUSE_FIRST_MS << (visit->attempt - 1);
    if (answer && answer->retry_after_s >= 0)
        least = (answer->retry_after_s < 60 ? answer->retry_after_s : 60) * MS_PER_S;
    return (least * 1000 + (int64_t)random_below((uint64_t)least * 500 + 1)) * (NS_PER_MS / 1000);
}

/* When the user does something else, and what; false: the user goes home. */
static bool next_step(struct visit *visit, enum end end, const struct answer *answer, const struct verdict *verdict,
                      int64_t *wait_ns)
{
    bool got_seat = end == END_ANSWERED && visit->kind == HISTORY_CLAIM && answer->status == 200 && verdict->success;
    if (got_seat && visit->persona == PERSONA_GIVE_BACK) {
        visit->kind = HISTORY_RELEASE;
        *wait_ns = (int64_t)random_below(GIVE_BACK_MS * (uint64_t)NS_PER_MS);
    } else if (got_seat && visit->persona == PERSONA_CHECK) {
        visit->kind = HISTORY_MINE;
        *wait_ns = 0;
    } else if (!got_seat && visit->persona == PERSONA_RETRY && visit->attempt < ATTEMPTS_MAX &&
               may_try_again(end, answer, verdict)) {
        *wait_ns = pause_ns(visit, answer);
    } else {
        return false;
    }
    return true;
}

void visit_end_request(struct crowd *crowd, struct visit *visit, enum end end, const struct answer *answer)
{
    struct verdict verdict = {0};
    int64_t wait_ns;
    leave_list(crowd, visit);
    wake_heap_remove(&crowd->wakers, &visit->waker);
    record_request(crowd, visit, end, answer, &verdict);
    visit->link = NULL;
    if (!atomic_load(&crowd->doors_closed) && next_step(visit, end, answer, &verdict, &wait_ns)) {
        visit->due_ns = clock_mono_ns() + wait_ns;
        crowd->tally.retries += visit->persona == PERSONA_RETRY;
        if (wake_heap_add(&crowd->wakers, &visit->waker, visit->due_ns))
            return;
    }
    visit_free(crowd, visit);
}

size_t visit_format(const struct crowd *crowd, const struct visit *visit, char out[REQUEST_MAX])
{
    static const char *const lines[] = {
        [HISTORY_CLAIM] = "POST /api/v1/seats/reservation/fcfs",
        [HISTORY_RELEASE] = "DELETE /api/v1/seats/reservation",
        [HISTORY_MINE] = "GET /api/v1/seats/reservation",
        [HISTORY_MAP] = "GET /api/v1/seats",
    };
    const struct plan *plan = crowd->plan;
    const struct target *target = &plan->targets[visit->link->target];
    unsigned long long number = visit->user + 1;
    struct buf text = {.data = out, .size = REQUEST_MAX, .max = REQUEST_MAX};
    buf_add_format(&text, "%s%s HTTP/1.1\r\nHost: %s\r\n", lines[visit->kind], plan->query, target->authority);
    if (visit->kind != HISTORY_MAP)
        plan_name_user(plan, number, &text);
    if (plan->forwarded_for)
        plan_name_address(visit->persona == PERSONA_ONE_IP ? 0 : number, &text);
    if (visit->kind == HISTORY_CLAIM) {
        char body[96];
        int length = snprintf(body, sizeof(body), "{\"userName\":\"Rehearsal %llu\",\"phone\":\"010-%04llu-%04llu\"}",
                              number, number / 10000 % 10000, number % 10000);
        buf_add_format(&text, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body);
    } else {
        buf_add(&text, STR("\r\n"));
    }
    return text.len;
}
