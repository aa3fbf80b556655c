#include "services/ticket/fcfs.h"

#include "base/cidr.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "coord/coord.h"
#include "services/ticket/announce.h"
#include "services/ticket/personal.h"
#include "services/ticket/ticket_internal.h"
#include "task/task.h"

enum { ATTEMPTS = 5, BACK_OFF_MS = 10 };

/* While the house is known to be sold out, and the user has no seat in it, nobody needs to ask the database. */
static bool is_sold_out(struct office *office, const struct claim *claim)
{
    return claim->kind == CLAIM_LOWEST && house_is_sold_out(office->house) &&
           !house_has_owner(office->house, house_owner(claim->user));
}

struct duplicate_lock {
    struct coord *coord;
    struct coord_lock_key keys[2];
    char owner[RANDOM_LETTERS];
    struct coord_lock lock;
};

static void release_lock(void *argument)
{
    struct duplicate_lock *lock = argument;
    coord_unlock(lock->coord, &lock->lock);
}

static void add_key(struct duplicate_lock *lock, struct arena *arena, const struct office *office, struct str kind,
                    struct str who, int64_t limit)
{
    lock->keys[lock->lock.count++] = (struct coord_lock_key){
        .key = ARENA_JOIN(arena, str_from(office->lock_prefix), kind, who),
        .limit = (uint32_t)limit,
    };
}

/* Another attempt of this user, or from this address, is refused until this one has been answered. */
static enum coord_outcome take_lock(struct request *rq, const struct office *office, const struct claim *claim)
{
    const struct settings *settings = app_of(rq)->settings;
    if (settings->fcfs_dup_policy == DUP_OFF)
        return COORD_OK;
    struct duplicate_lock *lock = ARENA_NEW(&rq->arena, struct duplicate_lock);
    lock->coord = app_of(rq)->coord;
    if (settings->fcfs_dup_policy != DUP_IP)
        add_key(lock, &rq->arena, office, STR("user:"), claim->user, 1);
    char network[CIDR_NETWORK_TEXT];
    if (settings->fcfs_dup_policy != DUP_USER)
        add_key(lock, &rq->arena, office, STR("ip:"), cidr_network_text(rq->client_address, network),
                settings->fcfs_ip_concurrency);
    random_letters(lock->owner);
    lock->lock.keys = lock->keys;
    lock->lock.owner = str_make(lock->owner, sizeof(lock->owner));
    lock->lock.ttl_ms = settings->fcfs_dup_ttl * MS_PER_S;
    enum coord_outcome outcome = coord_lock(lock->coord, &lock->lock);
    if (outcome == COORD_OK ||
        outcome == COORD_UNAVAILABLE) /* no answer in time: it may have been taken all the same */
        request_at_end(rq, release_lock, lock);
    return outcome;
}

static enum fcfs_outcome outcome_of(enum claim_outcome outcome)
{
    switch (outcome) {
    case CLAIM_CLAIMED: return FCFS_CLAIMED;
    case CLAIM_SOLD_OUT: return FCFS_SOLD_OUT;
    case CLAIM_ALREADY_RESERVED: return FCFS_ALREADY_RESERVED;
    case CLAIM_SEAT_TAKEN: return FCFS_SEAT_TAKEN;
    case CLAIM_RELEASED:
    case CLAIM_RELEASED_BY_OPERATOR: return FCFS_RELEASED;
    case CLAIM_NOT_RESERVED: return FCFS_NOT_RESERVED;
    case CLAIM_OUTCOME_COUNT: break;
    }
    __builtin_unreachable();
}

/* In its batch; again after a rest, twice as long each time and never the same for two, while others are in the way. */
static enum fcfs_outcome claim_with_retries(struct office *office, struct claim *claim)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        switch (db_batch_write(office->batch, claim)) {
        case DB_OK: announce(office, claim); return outcome_of(claim->outcome);
        case DB_BUSY:
        case DB_CONSTRAINT: /* the house in memory was wrong; it has been forgotten */
        case DB_ROLLED_BACK: {
            int64_t rest = (int64_t)BACK_OFF_MS << attempt;
            task_sleep(rest / 2 + (int64_t)random_below((uint64_t)rest));
            break;
        }
        default: return FCFS_UNAVAILABLE;
        }
    }
    return FCFS_CONTENTION;
}

static enum fcfs_outcome run(struct request *rq, struct office *office, struct claim *claim)
{
    if (is_sold_out(office, claim))
        return FCFS_SOLD_OUT;
    switch (take_lock(rq, office, claim)) {
    case COORD_OK:
        personal_seal(app_of(rq)->pii, &rq->arena, office->id, claim);
        return claim_with_retries(office, claim);
    case COORD_TAKEN: return FCFS_DUPLICATE;
    case COORD_FAILED: return FCFS_COORD_FAILED;
    default: return FCFS_UNAVAILABLE;
    }
}

static enum ticket_attempt attempt_of(enum fcfs_outcome outcome)
{
    switch (outcome) {
    case FCFS_CLAIMED: return ATTEMPT_CLAIMED;
    case FCFS_SOLD_OUT: return ATTEMPT_SOLD_OUT;
    case FCFS_DUPLICATE: return ATTEMPT_DUPLICATE;
    case FCFS_ALREADY_RESERVED: return ATTEMPT_ALREADY_RESERVED;
    case FCFS_SEAT_TAKEN: return ATTEMPT_SEAT_TAKEN;
    case FCFS_RELEASED: return ATTEMPT_RELEASED;
    case FCFS_NOT_RESERVED: return ATTEMPT_NOT_RESERVED;
    case FCFS_CONTENTION: return ATTEMPT_CONTENTION;
    case FCFS_UNAVAILABLE:
    case FCFS_COORD_FAILED: return ATTEMPT_FAILED;
    }
    __builtin_unreachable();
}

static void note_refusal(struct request *rq, const struct office *office, const struct claim *claim,
                         enum fcfs_outcome outcome)
{
    char network[CIDR_NETWORK_TEXT];
    bool decided = outcome != FCFS_CONTENTION && outcome != FCFS_UNAVAILABLE;
    history_note(ticket_history(app_of(rq)->ticket), &(struct refusal){
                                                         .house = office->id,
                                                         .user = claim->user,
                                                         .network = cidr_network_text(rq->client_address, network),
                                                         .outcome = ticket_attempt_name(attempt_of(outcome)),
                                                         .seat = decided ? claim->seat : 0,
                                                         .sequence = decided ? claim->sequence : 0,
                                                     });
}

enum fcfs_outcome fcfs_run(struct request *rq, struct office *office, struct claim *claim)
{
    *claim = (struct claim){.kind = claim->kind,
                            .user = claim->user,
                            .user_name = claim->user_name,
                            .phone = claim->phone,
                            .given_sequence = claim->given_sequence};
    enum fcfs_outcome outcome = run(rq, office, claim);
    ticket_count(app_of(rq)->ticket, attempt_of(outcome));
    if (outcome != FCFS_CLAIMED && outcome != FCFS_RELEASED)
        note_refusal(rq, office, claim, outcome);
    return outcome;
}

/* No duplicate lock, which is about buyers; and what an operator tries in vain is not a buyer's attempt. */
enum fcfs_outcome fcfs_free_seat(struct request *rq, struct office *office, struct claim *claim)
{
    enum fcfs_outcome outcome = claim_with_retries(office, claim);
    if (outcome == FCFS_RELEASED)
        ticket_count(app_of(rq)->ticket, ATTEMPT_RELEASED_BY_OPERATOR);
    return outcome;
}
