/*
 * Every change of a house's seats: taking the lowest free seat, trying a certain
 * one, giving one back. Changes of many requests travel together in one
 * transaction that locks the house's row, draws their sequence numbers, chooses
 * seats in that order from the house in memory, and writes claims and history.
 * The constraints of the database have the last word: if they refuse a seat that
 * the memory took for free, the whole batch is undone and tried again.
 */
#ifndef TICKET_CLAIM_H
#define TICKET_CLAIM_H

#include "services/ticket/office.h"

enum claim_kind {
    CLAIM_LOWEST,      /* the lowest free seat */
    CLAIM_BY_SEQUENCE, /* sequence n tries seat n */
    CLAIM_RELEASE,     /* gives the user's seat back */
    CLAIM_FREE_SEAT,   /* an operator gives a certain seat back, whoever has it */
};

enum claim_outcome {
    CLAIM_CLAIMED,
    CLAIM_SOLD_OUT,
    CLAIM_ALREADY_RESERVED, /* the user has a seat already: that seat */
    CLAIM_SEAT_TAKEN,       /* CLAIM_BY_SEQUENCE only: somebody else has seat n */
    CLAIM_RELEASED,
    CLAIM_RELEASED_BY_OPERATOR,
    CLAIM_NOT_RESERVED,
    CLAIM_OUTCOME_COUNT,
};

/* As in the history and the metrics. */
const char *claim_outcome_name(enum claim_outcome outcome);

struct claim {
    enum claim_kind kind;
    struct str user;
    struct str user_name, phone; /* ptr NULL: none */
    int64_t given_sequence;      /* the gateway's; 0: draw one */
    int64_t given_seat;          /* CLAIM_FREE_SEAT only: 1 to SEATS_MAX */

    enum claim_outcome outcome;
    int64_t sequence;
    int64_t seat;       /* 0: none */
    struct str owner;   /* CLAIM_FREE_SEAT: who had it; in the batch only */
    int64_t claimed_at; /* wall ms; of the seat */
    int64_t remaining;  /* free seats after this one */
    char *announcement; /* the task that finds one tells the other servers (announce.h), then frees it */
};

/* For db_batch: the items are struct claim, the context is the office. */
bool claim_run_batch(struct tx *tx, void *items[], size_t count, void *context);
void claim_batch_settled(void *items[], size_t count, enum db_outcome outcome, void *context);

/* Inside a unit: fills in seat, claimed_at and sequence of the seat that claim->user has in the house; false when there
 * is none, or the statement failed. */
bool claim_find(struct tx *tx, int64_t house, struct claim *claim);

/* Inside a unit: the history's line of a reset. */
bool claim_note_reset(struct tx *tx, int64_t house, int64_t version);

#endif
