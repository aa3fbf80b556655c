/*
 * The history of refused attempts (sold out, duplicate …). They changed nothing,
 * so their lines must not make the buyer wait for a disk: lines are collected and
 * written together a few times a second. And anybody can be refused as often as
 * they like, so not every one gets a line (history_sample.h); all are counted.
 * Bounded: when the database falls far behind, lines are dropped and counted.
 */
#ifndef TICKET_HISTORY_H
#define TICKET_HISTORY_H

#include "db/db.h"

struct history;

struct history *history_create(struct db *db);
void history_destroy(struct history *history);

/* On the loop that writes; and before that loop ends. */
void history_start(struct history *history);
void history_stop(struct history *history);

struct refusal {
    int64_t house;
    struct str user, network; /* network: the client's (base/cidr.h) */
    const char *outcome;      /* a literal */
    int64_t seat, sequence;   /* 0: none */
};

/* Any loop. */
void history_note(struct history *history, const struct refusal *refusal);

/* Lines wait to be written. Any thread. */
bool history_pending(struct history *history);

/* For the metrics. Any thread. */
uint64_t history_dropped(struct history *history);
uint64_t history_left_out(struct history *history); /* of the sample */

#endif
