/* Keeping books of what became of a request: in the crowd's tally, and in the history if there is one. */
#include "rehearse/crowd_internal.h"

#include "base/clock.h"

#include <stdio.h>

static void count_answer(struct tally *tally, const struct visit *visit, const struct answer *answer,
                         const struct verdict *verdict)
{
    bool good = answer->status == 200 || answer->status == 304;
    char status[16];
    tally->answered++;
    tally->kinds[visit->kind]++;
    tally->server_errors += answer->status >= 500;
    if (good && visit->kind == HISTORY_CLAIM) {
        tally->sold++;
        tally_count_reason(tally, STR("claimed"));
    } else if (good && visit->kind == HISTORY_RELEASE) {
        tally->released++;
        tally_count_reason(tally, STR("released"));
    } else if (good) {
        tally_count_reason(tally, visit->kind == HISTORY_MAP ? STR("map read") : STR("seat looked up"));
    } else if (verdict->reason.len) {
        tally_count_reason(tally, verdict->reason);
    } else {
        int length = snprintf(status, sizeof(status), "HTTP %d", answer->status);
        tally_count_reason(tally, str_make(status, (size_t)length));
    }
}

static void count_end(struct crowd *crowd, const struct visit *visit, enum end end, const struct answer *answer,
                      const struct verdict *verdict, int64_t now_ns)
{
    struct tally *tally = &crowd->tally;
    tally->last_end_ns = now_ns;
    switch (end) {
    case END_ANSWERED: count_answer(tally, visit, answer, verdict); break;
    case END_REFUSED: tally->refused++; break;
    case END_BROKEN: tally->broken++; break;
    case END_TOO_LARGE: tally->too_large++; break;
    case END_TIMEOUT: tally->timeouts++; break;
    case END_NOT_SENT: tally->not_sent++; break;
    case END_GAVE_UP: tally->gave_up++; break;
    case END_CUT_OFF: tally->cut_off++; break;
    }
    /* Leaving out those who waited in vain would make a server look faster the worse it is. */
    if (end == END_ANSWERED || end == END_TIMEOUT || end == END_NOT_SENT)
        histogram_add(&tally->latency[visit->kind], (uint64_t)(now_ns - visit->due_ns));
}

static void take_seat(void *context, int64_t seat)
{
    seat_ranges_add(context, seat);
}

static void describe_map(struct crowd *crowd, const struct answer *answer, struct history_op *op)
{
    struct seat_ranges ranges = {.out = &crowd->ranges};
    buf_clear(&crowd->ranges);
    etag_read(answer->etag, &op->generation, &op->version);
    if (answer->status != 200 || map_read(answer->body, take_seat, &ranges) < 0)
        return;
    seat_ranges_finish(&ranges);
    op->taken = crowd->ranges.len ? buf_str(&crowd->ranges) : STR("");
}

/* The address that the server sees; empty where the server decides by something we do not know. */
static struct str address_of(const struct crowd *crowd, const struct visit *visit, char text[INET_ADDRSTRLEN])
{
    const struct link *link = visit->link;
    if (crowd->plan->forwarded_for || !link || !target_has_own_addresses(&crowd->plan->targets[link->target]))
        return (struct str){NULL, 0};
    target_own_address(link->pool == POOL_OWN ? link->number : 0, text);
    return str_from(text);
}

static void write_history(struct crowd *crowd, const struct visit *visit, const struct answer *answer,
                          const struct verdict *verdict, int64_t now_ns)
{
    struct history_op op = HISTORY_OP_UNKNOWN;
    char user[64], address[INET_ADDRSTRLEN];
    int length = snprintf(user, sizeof(user), "%s-%llu", crowd->plan->run, (unsigned long long)visit->user + 1);
    op.kind = visit->kind;
    op.start = visit->sent_ns;
    op.address = address_of(crowd, visit, address);
    if (visit->kind != HISTORY_MAP)
        op.user = str_make(user, (size_t)length);
    if (visit->link)
        op.server = (int)visit->link->target;
    if (answer) {
        op.end = now_ns;
        op.status = answer->status;
        op.reason = verdict->reason;
        op.seat = verdict->seat;
        op.sequence = verdict->sequence;
        op.remaining = verdict->remaining;
        if (verdict->reserved_by.len && !str_eq(verdict->reserved_by, op.user))
            op.owner = verdict->reserved_by;
        if (visit->kind == HISTORY_MAP)
            describe_map(crowd, answer, &op);
    }
    history_append(crowd->history, &op);
}

void record_request(struct crowd *crowd, const struct visit *visit, enum end end, const struct answer *answer,
                    struct verdict *verdict)
{
    int64_t now_ns = clock_mono_ns();
    *verdict = (struct verdict){.seat = -1, .sequence = -1, .remaining = -1};
    bool is_map = visit->kind == HISTORY_MAP && end == END_ANSWERED && answer->status == 200;
    if (end == END_ANSWERED && !is_map && !verdict_read(answer->body, &crowd->arena, verdict))
        verdict->reason = (struct str){NULL, 0};
    count_end(crowd, visit, end, answer, verdict, now_ns);
    if (crowd->history && visit->sent_ns)
        write_history(crowd, visit, end == END_ANSWERED ? answer : NULL, verdict, now_ns);
    arena_reset(&crowd->arena);
}
