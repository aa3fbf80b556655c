/*
 * Attempts that changed nothing and were answered from memory (sold out,
 * duplicate): their line of history must not make the buyer wait for a disk, so
 * lines are collected and written together a few times a second. Bounded: when
 * the database falls far behind, lines are dropped and counted.
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

/* Any loop. `outcome` is a literal. */
void history_note(struct history *history, int64_t house, struct str user, const char *outcome);

/* Lines wait to be written. Any thread. */
bool history_pending(struct history *history);

uint64_t history_dropped(struct history *history);

#endif
