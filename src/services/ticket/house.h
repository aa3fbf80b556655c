/*
 * The house of one schedule in memory: which seats are taken, and by whom (as a
 * hash). The database is the truth; this is a copy of its latest version that we
 * know of. Reads, the stream and "sold out" are answered from here, and claims
 * choose their seats here before the database confirms them.
 *
 * Each committed change of the house has a version, one more than the one before.
 * A copy takes a change only as the direct successor of what it has; else it has
 * missed something and must be brought up to date from the database.
 *
 * Reading the database takes a while, in which the house goes on. So whoever reads
 * asks for the state of the house first, and hands it in with what was read: what
 * has become old meanwhile is not taken, and a doubt that came meanwhile stays.
 *
 * Any thread; the house has its own lock.
 */
#ifndef TICKET_HOUSE_H
#define TICKET_HOUSE_H

#include "base/str.h"

struct house;

struct house_seat {
    int64_t seat;
    uint64_t owner; /* house_owner of the user; 0: the seat is free */
};

struct house_state {
    int64_t generation; /* one more at each reset */
    int64_t version;
    int64_t seats;
    int64_t free;
    bool trusted;           /* nothing has been missed, as far as we know */
    uint64_t edits, doubts; /* how often it was changed, and distrusted */
};

struct house *house_create(void);
void house_destroy(struct house *house);

/* Never 0. */
uint64_t house_owner(struct str user);

/* A whole house as the database has it. */
struct house_picture {
    int64_t generation, version, seats;
    const struct house_seat *taken; /* the seats with an owner */
    size_t count;
};

/* Replaces everything with what was read from the database after `before`; unless the house was changed since then and
 * is as new. A lower version than before is right when nobody has changed the house: a backup was restored. False when
 * there is no memory. */
bool house_load(struct house *house, const struct house_state *before, const struct house_picture *picture);

/* The change from `version` - 1 to `version`. False when it is not the next one (nothing is changed);
 * one that is known already, or of a house before this one, is fine. */
bool house_apply(struct house *house, int64_t generation, int64_t version, const struct house_seat *changes,
                 size_t count);

/* Changes that were missed, read from the database after `before`: all that has happened from its version up to
 * `version`, in order. */
void house_catch_up(struct house *house, const struct house_state *before, int64_t version,
                    const struct house_seat *changes, size_t count);

/* We may have missed something: until the next load or catch-up, do not answer from memory. */
void house_distrust(struct house *house);

/* What we have is wrong: only a load helps. */
void house_forget(struct house *house);

struct house_state house_state(struct house *house);

/* Trusted, and no seat is free. What everybody asks in a rush, so without a lock. */
bool house_is_sold_out(struct house *house);

bool house_is_free(struct house *house, int64_t seat);
bool house_has_owner(struct house *house, uint64_t owner);

/* Many are about to be asked for: their places in a large table come into the cache all at once. */
void house_prefetch_owners(struct house *house, const uint64_t *owners, size_t count);

/* The lowest free seat that is `from` or more; 0: none. */
int64_t house_next_free(struct house *house, int64_t from);

/* A bit per seat (seat 1 is the lowest bit of words[0]), set when it is free, for the returned state's seats.
 * `words` has room for `room` words; state.seats tells how many were needed. */
struct house_state house_copy_free(struct house *house, uint64_t *words, size_t room);

/* The seats changed after `version`, at most `room`, with their present status; one that changed twice may come
 * twice. -1 when that is too long ago, of another generation, or too many: send everything. */
ptrdiff_t house_changes_since(struct house *house, int64_t generation, int64_t version, struct house_seat *changes,
                              size_t room, struct house_state *state);

/* Called after every load and apply, without the lock, on the thread that did it. */
void house_on_change(struct house *house, void (*changed)(void *context), void *context);

#endif
