#include "services/ticket/house.h"

#include "services/ticket/owner_table.h"
#include "services/ticket/seat_set.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { RECENT = 8192 }; /* changes that listeners can catch up with */

struct recent_change {
    int64_t version;
    int64_t seat;
};

struct house {
    pthread_rwlock_t lock;
    int64_t generation, version, free;
    bool trusted;
    uint64_t edits, doubts;
    struct seat_set free_seats;
    struct owner_table owners;
    struct recent_change recent[RECENT]; /* a ring */
    size_t recent_next, recent_count;
    int64_t recent_from; /* every change after this version is in the ring */
    void (*changed)(void *context);
    void *context;
    atomic_bool is_sold_out; /* far from the lock, which changes hands all the time */
};

struct house *house_create(void)
{
    struct house *house = calloc(1, sizeof(*house));
    if (!house)
        return NULL;
    pthread_rwlock_init(&house->lock, NULL);
    if (!seat_set_init(&house->free_seats, 0) || !owner_table_init(&house->owners, 0)) {
        house_destroy(house);
        return NULL;
    }
    return house;
}

void house_destroy(struct house *house)
{
    seat_set_free(&house->free_seats);
    owner_table_free(&house->owners);
    pthread_rwlock_destroy(&house->lock);
    free(house);
}

uint64_t house_owner(struct str user)
{
    uint64_t hash = str_hash(user);
    return hash ? hash : 1;
}

void house_on_change(struct house *house, void (*changed)(void *context), void *context)
{
    house->changed = changed;
    house->context = context;
}

/* After every change. It is written only when it is another: all loops have it in their caches. */
static void unlock_changed(struct house *house)
{
    bool is_sold_out = house->trusted && house->free == 0;
    if (is_sold_out != atomic_load(&house->is_sold_out))
        atomic_store(&house->is_sold_out, is_sold_out);
    pthread_rwlock_unlock(&house->lock);
}

static void notify(struct house *house)
{
    if (house->changed)
        house->changed(house->context);
}

/* The single mover of a seat's state. */
static void set_seat(struct house *house, const struct house_seat *seat)
{
    uint64_t before = owner_table_owner(&house->owners, seat->seat);
    if (before == seat->owner)
        return;
    if (before)
        owner_table_remove(&house->owners, seat->seat);
    else
        seat_set_remove(&house->free_seats, seat->seat);
    if (seat->owner)
        owner_table_add(&house->owners, seat->seat, seat->owner);
    else
        seat_set_add(&house->free_seats, seat->seat);
    house->free += (before != 0) - (seat->owner != 0);
}

static void remember(struct house *house, int64_t version, int64_t seat)
{
    if (house->recent_count == RECENT)
        house->recent_from = house->recent[house->recent_next].version; /* the one that is overwritten */
    else
        house->recent_count++;
    house->recent[house->recent_next] = (struct recent_change){.version = version, .seat = seat};
    house->recent_next = (house->recent_next + 1) % RECENT;
}

/* Whether generation and version are later than what the house has. */
static bool is_newer(const struct house *house, int64_t generation, int64_t version)
{
    return generation > house->generation || (generation == house->generation && version > house->version);
}

static void doubt(struct house *house)
{
    house->trusted = false;
    house->doubts++;
}

/* Takes both tables; the old ones are left in their place. */
static void replace_locked(struct house *house, const struct house_picture *picture, struct seat_set *free_seats,
                           struct owner_table *owners)
{
    struct seat_set old_free_seats = house->free_seats;
    struct owner_table old_owners = house->owners;
    house->free_seats = *free_seats;
    house->owners = *owners;
    *free_seats = old_free_seats;
    *owners = old_owners;
    house->generation = picture->generation;
    house->version = picture->version;
    house->free = picture->seats;
    for (size_t i = 0; i < picture->count; i++)
        set_seat(house, &picture->taken[i]);
    house->recent_count = 0;
    house->recent_from = picture->version;
    house->edits++;
}

bool house_load(struct house *house, const struct house_state *before, const struct house_picture *picture)
{
    struct seat_set free_seats;
    struct owner_table owners;
    if (!seat_set_init(&free_seats, picture->seats))
        return false;
    if (!owner_table_init(&owners, picture->seats)) {
        seat_set_free(&free_seats);
        return false;
    }
    seat_set_fill(&free_seats);

    pthread_rwlock_wrlock(&house->lock);
    bool is_sure = house->doubts == before->doubts;
    bool replaces = house->edits == before->edits || is_newer(house, picture->generation, picture->version);
    if (replaces) {
        replace_locked(house, picture, &free_seats, &owners);
        house->trusted = is_sure;
    } else if (house->generation == picture->generation && house->version == picture->version) {
        house->trusted |= is_sure;
    }
    unlock_changed(house);
    if (replaces)
        notify(house);
    seat_set_free(&free_seats);
    owner_table_free(&owners);
    return true;
}

static void apply_locked(struct house *house, int64_t version, const struct house_seat *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        set_seat(house, &changes[i]);
        remember(house, version, changes[i].seat);
    }
    house->version = version;
    house->edits++;
}

bool house_apply(struct house *house, int64_t generation, int64_t version, const struct house_seat *changes,
                 size_t count)
{
    pthread_rwlock_wrlock(&house->lock);
    bool known = !is_newer(house, generation, version);
    bool next = generation == house->generation && version == house->version + 1;
    if (next)
        apply_locked(house, version, changes, count);
    else if (!known)
        doubt(house);
    unlock_changed(house);
    if (next)
        notify(house);
    return known || next;
}

void house_catch_up(struct house *house, const struct house_state *before, int64_t version,
                    const struct house_seat *changes, size_t count)
{
    pthread_rwlock_wrlock(&house->lock);
    bool fits = house->generation == before->generation && house->version >= before->version;
    bool newer = fits && version > house->version;
    if (newer)
        apply_locked(house, version, changes, count);
    if (fits)
        house->trusted |= house->doubts == before->doubts;
    unlock_changed(house);
    if (newer)
        notify(house);
}

void house_distrust(struct house *house)
{
    pthread_rwlock_wrlock(&house->lock);
    doubt(house);
    unlock_changed(house);
}

void house_forget(struct house *house)
{
    pthread_rwlock_wrlock(&house->lock);
    doubt(house);
    house->generation = 0;
    unlock_changed(house);
}

static struct house_state state_locked(const struct house *house)
{
    return (struct house_state){.generation = house->generation,
                                .version = house->version,
                                .seats = house->free_seats.capacity,
                                .free = house->free,
                                .trusted = house->trusted,
                                .edits = house->edits,
                                .doubts = house->doubts};
}

struct house_state house_state(struct house *house)
{
    pthread_rwlock_rdlock(&house->lock);
    struct house_state state = state_locked(house);
    pthread_rwlock_unlock(&house->lock);
    return state;
}

bool house_is_sold_out(struct house *house)
{
    return atomic_load(&house->is_sold_out);
}

bool house_is_free(struct house *house, int64_t seat)
{
    pthread_rwlock_rdlock(&house->lock);
    bool is_free = seat_set_has(&house->free_seats, seat);
    pthread_rwlock_unlock(&house->lock);
    return is_free;
}

bool house_has_owner(struct house *house, uint64_t owner)
{
    pthread_rwlock_rdlock(&house->lock);
    bool has = owner_table_has(&house->owners, owner);
    pthread_rwlock_unlock(&house->lock);
    return has;
}

void house_prefetch_owners(struct house *house, const uint64_t *owners, size_t count)
{
    pthread_rwlock_rdlock(&house->lock);
    for (size_t i = 0; i < count; i++)
        owner_table_prefetch(&house->owners, owners[i]);
    pthread_rwlock_unlock(&house->lock);
}

int64_t house_next_free(struct house *house, int64_t from)
{
    pthread_rwlock_rdlock(&house->lock);
    int64_t seat = seat_set_next(&house->free_seats, from);
    pthread_rwlock_unlock(&house->lock);
    return seat;
}

struct house_state house_copy_free(struct house *house, uint64_t *words, size_t room)
{
    pthread_rwlock_rdlock(&house->lock);
    struct house_state state = state_locked(house);
    size_t needed = (size_t)(state.seats + 63) / 64;
    if (needed && needed <= room)
        memcpy(words, house->free_seats.levels[0], needed * sizeof(*words));
    pthread_rwlock_unlock(&house->lock);
    return state;
}

/* Walks the ring from the newest change back; a seat that comes twice is sent twice, which does no harm. */
ptrdiff_t house_changes_since(struct house *house, int64_t generation, int64_t version, struct house_seat *changes,
                              size_t room, struct house_state *state)
{
    pthread_rwlock_rdlock(&house->lock);
    *state = state_locked(house);
    ptrdiff_t count =
        generation == house->generation && version >= house->recent_from && version <= house->version ? 0 : -1;
    for (size_t back = 1; count >= 0 && back <= house->recent_count; back++) {
        const struct recent_change *change = &house->recent[(house->recent_next + RECENT - back) % RECENT];
        if (change->version <= version)
            break;
        if ((size_t)count == room) {
            count = -1;
            break;
        }
        changes[count++] =
            (struct house_seat){.seat = change->seat, .owner = owner_table_owner(&house->owners, change->seat)};
    }
    pthread_rwlock_unlock(&house->lock);
    return count;
}
