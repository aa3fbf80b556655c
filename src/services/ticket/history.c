#include "services/ticket/history.h"

#include "base/clock.h"
#include "base/log.h"
#include "services/ticket/history_sample.h"
#include "task/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WRITE_EVERY_MS = 100, NOTES_BYTES = 16 * 1024 * 1024, ROWS_PER_UNIT = 4096 };

/* Notes lie one behind the other: this, then the user's bytes, padded to the alignment. */
struct note {
    int64_t house, at, seat, sequence;
    const char *outcome;
    size_t user_length;
};

struct history {
    struct db *db;
    uv_timer_t timer;
    bool writing; /* on the writing loop */
    struct buf being_written;
    size_t written;        /* bytes of it that are in the database */
    pthread_mutex_t mutex; /* guards: */
    struct buf waiting;
    atomic_ullong dropped, left_out;
    struct history_sample sample;
    atomic_bool pending;
};

static const struct statement INSERT_NOTES = {
    .postgres = "INSERT INTO reservation_history (house_id, at, user_id, outcome, seat_id, sequence) "
                "SELECT house, at, person, outcome, nullif(seat, 0), nullif(number, 0) FROM "
                "unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) "
                "AS t (house, at, person, outcome, seat, number)",
    .sqlite = "INSERT INTO reservation_history (house_id, at, user_id, outcome, seat_id, sequence) "
              "SELECT c1, c2, c3, c4, nullif(c5, 0), nullif(c6, 0) FROM unnest($1, $2, $3, $4, $5, $6)",
};

struct history *history_create(struct db *db)
{
    struct history *history = calloc(1, sizeof(*history));
    if (!history)
        return NULL;
    history->db = db;
    history_sample_init(&history->sample);
    buf_init(&history->waiting, NOTES_BYTES);
    buf_init(&history->being_written, NOTES_BYTES);
    pthread_mutex_init(&history->mutex, NULL);
    return history;
}

void history_destroy(struct history *history)
{
    buf_free(&history->waiting);
    buf_free(&history->being_written);
    pthread_mutex_destroy(&history->mutex);
    free(history);
}

static size_t padded(size_t length)
{
    return (length + _Alignof(struct note) - 1) & ~(_Alignof(struct note) - 1);
}

void history_note(struct history *history, const struct refusal *refusal)
{
    if (!history_sample_take(&history->sample, refusal->house, refusal->network, clock_mono_ns() / NS_PER_MS)) {
        atomic_fetch_add_explicit(&history->left_out, 1, memory_order_relaxed);
        return;
    }
    struct str user = refusal->user;
    struct note note = {.house = refusal->house,
                        .at = clock_wall_ms(),
                        .seat = refusal->seat,
                        .sequence = refusal->sequence,
                        .outcome = refusal->outcome,
                        .user_length = user.len};
    size_t size = sizeof(note) + padded(user.len);
    pthread_mutex_lock(&history->mutex);
    char *room = buf_reserve(&history->waiting, size);
    if (room) {
        memcpy(room, &note, sizeof(note));
        memcpy(room + sizeof(note), user.ptr, user.len);
        history->waiting.len += size;
    }
    pthread_mutex_unlock(&history->mutex);
    if (!room)
        atomic_fetch_add(&history->dropped, 1);
    else if (!atomic_load_explicit(&history->pending, memory_order_relaxed))
        atomic_store(&history->pending, true);
}

bool history_pending(struct history *history)
{
    return atomic_load(&history->pending);
}

uint64_t history_dropped(struct history *history)
{
    return atomic_load(&history->dropped);
}

uint64_t history_left_out(struct history *history)
{
    return atomic_load(&history->left_out);
}

/* Up to ROWS_PER_UNIT notes from *rest. */
struct notes {
    struct str rest;
    size_t used;
};

static bool next_note(struct notes *notes, struct note *note, struct str *user)
{
    struct str left = str_from_offset(notes->rest, notes->used);
    if (left.len == 0)
        return false;
    memcpy(note, left.ptr, sizeof(*note));
    *user = str_make(left.ptr + sizeof(*note), note->user_length);
    notes->used += sizeof(*note) + padded(note->user_length);
    return true;
}

static bool write_unit(struct tx *tx, void *argument)
{
    struct notes *notes = argument;
    notes->used = 0; /* it may be run again */
    int64_t *houses = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, ROWS_PER_UNIT);
    int64_t *times = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, ROWS_PER_UNIT);
    int64_t *seats = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, ROWS_PER_UNIT);
    int64_t *numbers = ARENA_NEW_ARRAY(tx_arena(tx), int64_t, ROWS_PER_UNIT);
    struct str *users = ARENA_NEW_ARRAY(tx_arena(tx), struct str, ROWS_PER_UNIT);
    struct str *outcomes = ARENA_NEW_ARRAY(tx_arena(tx), struct str, ROWS_PER_UNIT);
    struct note note;
    size_t count = 0;
    while (count < ROWS_PER_UNIT && next_note(notes, &note, &users[count])) {
        houses[count] = note.house;
        times[count] = note.at;
        seats[count] = note.seat;
        numbers[count] = note.sequence;
        outcomes[count++] = str_from(note.outcome);
    }
    return tx_exec(tx, &INSERT_NOTES,
                   DB_PARAMS(DB_INTS(houses, count), DB_INTS(times, count), DB_TEXTS(users, count),
                             DB_TEXTS(outcomes, count), DB_INTS(seats, count), DB_INTS(numbers, count)));
}

static void take_waiting(struct history *history)
{
    pthread_mutex_lock(&history->mutex);
    struct buf taken = history->waiting;
    history->waiting = history->being_written;
    history->being_written = taken;
    buf_clear(&history->waiting);
    history->written = 0;
    atomic_store(&history->pending, false);
    pthread_mutex_unlock(&history->mutex);
}

/* A task. What cannot be written now stays and is tried again, while new lines collect in the other buffer. */
static void write_waiting(void *argument)
{
    struct history *history = argument;
    task_set_deadline(clock_mono_ns() + 10 * NS_PER_S);
    if (history->written == history->being_written.len)
        take_waiting(history);
    while (history->written < history->being_written.len) {
        struct notes notes = {.rest = str_from_offset(buf_str(&history->being_written), history->written)};
        if (db_write(history->db, write_unit, &notes, NULL) != DB_OK) {
            atomic_store(&history->pending, true);
            break;
        }
        history->written += notes.used;
    }
    history->writing = false;
}

static void on_timer(uv_timer_t *timer)
{
    struct history *history = timer->data;
    if (history->writing || !history_pending(history))
        return;
    history->writing = true;
    if (!task_start(write_waiting, history))
        history->writing = false;
}

void history_start(struct history *history)
{
    uv_timer_init(loop_uv(loop_current()), &history->timer);
    history->timer.data = history;
    uv_timer_start(&history->timer, on_timer, WRITE_EVERY_MS, WRITE_EVERY_MS);
}

void history_stop(struct history *history)
{
    uv_close((uv_handle_t *)&history->timer, NULL);
    if (history_dropped(history))
        log_warn("lines of history were dropped because the database was behind",
                 LOG_INT("lines", (int64_t)history_dropped(history)));
}
