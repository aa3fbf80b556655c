#include "services/ticket/ticket.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/server.h"
#include "services/ticket/announce.h"
#include "services/ticket/history_prune.h"
#include "services/ticket/listeners.h"
#include "services/ticket/personal.h"
#include "services/ticket/renderer.h"
#include "services/ticket/ticket_internal.h"
#include "task/task.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { OFFICES_MAX = 256, RETRY_OPEN_MS = 500 };

struct ticket {
    struct app *app;
    size_t loops;
    _Atomic(struct loop *) main_loop; /* the first: listens to other servers, writes history */
    struct history *history;
    struct history_prune *prune;
    struct renderer *renderer;
    struct announcer *announcer;
    struct str default_schedule;
    pthread_mutex_t mutex;            /* one office is opened at a time; guards the list's end and the count */
    _Atomic(struct office *) offices; /* newest first; never removed while the server runs */
    size_t office_count;
    atomic_bool opened; /* the default one */
    atomic_ullong attempts[ATTEMPT_COUNT];
};

struct ticket *ticket_create(struct app *app, size_t loops)
{
    struct ticket *ticket = calloc(1, sizeof(*ticket));
    if (!ticket)
        return NULL;
    ticket->app = app;
    ticket->loops = loops;
    ticket->default_schedule = app->settings->fcfs_schedule.len ? app->settings->fcfs_schedule : STR("demo");
    ticket->history = history_create(app->reservations);
    ticket->prune = history_prune_create(app->reservations, app->settings->history_days);
    ticket->renderer = renderer_create((size_t)app->settings->max_list_bytes);
    pthread_mutex_init(&ticket->mutex, NULL);
    if (!ticket->history || !ticket->prune || !ticket->renderer) {
        ticket_destroy(ticket);
        return NULL;
    }
    return ticket;
}

/* What offices have from here, for those who look at the house. */
static bool open_views(struct ticket *ticket, struct office *office)
{
    bool opened = (office->listeners = listeners_create(office, ticket->loops));
    for (enum edition_form form = 0; form < EDITION_FORMS; form++)
        opened &= (office->renderings[form] = rendering_open(ticket->renderer, office->house, form)) != NULL;
    return opened;
}

static void close_views(struct office *office)
{
    for (enum edition_form form = 0; form < EDITION_FORMS; form++)
        rendering_close(office->renderings[form]);
    listeners_destroy(office->listeners);
}

void ticket_destroy(struct ticket *ticket)
{
    struct office *next;
    if (ticket->renderer)
        renderer_stop(ticket->renderer);
    for (struct office *office = ticket_first_office(ticket); office; office = next) {
        next = office->next;
        close_views(office);
        office_close(office);
    }
    if (ticket->renderer)
        renderer_destroy(ticket->renderer);
    if (ticket->history)
        history_destroy(ticket->history);
    if (ticket->prune)
        history_prune_destroy(ticket->prune);
    if (ticket->announcer)
        announcer_free(ticket->announcer);
    pthread_mutex_destroy(&ticket->mutex);
    free(ticket);
}

struct office *ticket_first_office(struct ticket *ticket)
{
    return atomic_load_explicit(&ticket->offices, memory_order_acquire);
}

struct office *ticket_office_by_id(struct ticket *ticket, int64_t id)
{
    struct office *office = ticket_first_office(ticket);
    while (office && office->id != id)
        office = office->next;
    return office;
}

static struct office *find_office(struct ticket *ticket, struct str schedule)
{
    struct office *office = ticket_first_office(ticket);
    while (office && !str_eq(str_from(office->show.schedule), schedule))
        office = office->next;
    return office;
}

/* Two tasks may open the same office at once; the second finds the first one's and drops its own. */
static enum office_outcome add_office(struct ticket *ticket, struct office *mine, struct office **office)
{
    mine->announcer = ticket->announcer;
    bool viewable = open_views(ticket, mine);
    pthread_mutex_lock(&ticket->mutex);
    struct office *theirs = find_office(ticket, str_from(mine->show.schedule));
    bool room = viewable && ticket->office_count < OFFICES_MAX;
    if (!theirs && room) {
        mine->next = ticket_first_office(ticket);
        atomic_store_explicit(&ticket->offices, mine, memory_order_release);
        ticket->office_count++;
    }
    pthread_mutex_unlock(&ticket->mutex);
    *office = theirs ? theirs : mine;
    if (!theirs && room)
        return OFFICE_OPEN;
    close_views(mine);
    office_close(mine);
    return theirs ? OFFICE_OPEN : OFFICE_UNAVAILABLE;
}

enum office_outcome ticket_open_office(struct ticket *ticket, struct str schedule, int64_t create_seats,
                                       struct office **office)
{
    if ((*office = find_office(ticket, schedule)))
        return OFFICE_OPEN;
    struct office *mine;
    enum office_outcome outcome = office_open(ticket->app->reservations, schedule, create_seats, &mine);
    return outcome == OFFICE_OPEN ? add_office(ticket, mine, office) : outcome;
}

struct office *ticket_office_named(struct request *rq, struct str schedule)
{
    struct office *office;
    if (schedule.len == 0 || schedule.len > SCHEDULE_MAX) {
        request_invalid(rq, "scheduleId", "must have 1 to 64 bytes.");
        return NULL;
    }
    switch (ticket_open_office(app_of(rq)->ticket, schedule, CREATE_NO_HOUSE, &office)) {
    case OFFICE_OPEN: return office;
    case OFFICE_UNKNOWN: reply_error_message(rq, ERR_NOT_FOUND, STR("There is no such schedule.")); return NULL;
    case OFFICE_UNAVAILABLE: reply_error(rq, ERR_SERVICE_UNAVAILABLE); return NULL;
    }
    return NULL;
}

struct office *ticket_office_of(struct request *rq)
{
    struct str schedule = request_query(rq, STR("scheduleId"));
    return ticket_office_named(rq, schedule.ptr ? schedule : app_of(rq)->ticket->default_schedule);
}

/* A task on the main loop: the default house is there before the first buyer, as soon as the database is. */
static void open_default(void *argument)
{
    struct ticket *ticket = argument;
    const struct settings *settings = ticket->app->settings;
    bool is_demo = settings->fcfs_schedule.len == 0;
    struct office *office;
    while (!server_draining(ticket->app->server)) {
        task_set_deadline(clock_mono_ns() + 5 * NS_PER_S);
        enum office_outcome outcome = ticket_open_office(ticket, ticket->default_schedule,
                                                         is_demo ? settings->fcfs_seats : CREATE_NO_HOUSE, &office);
        if (outcome == OFFICE_OPEN) {
            log_info("the house is open", LOG_STR("schedule", ticket->default_schedule),
                     LOG_INT("seats", house_state(office->house).seats),
                     LOG_INT("free", house_state(office->house).free));
            atomic_store(&ticket->opened, true);
            personal_warn_of_plain(ticket->app->reservations);
            return;
        }
        if (outcome == OFFICE_UNKNOWN && !is_demo)
            log_error("FCFS_SCHEDULE names a schedule that does not exist",
                      LOG_STR("schedule", ticket->default_schedule));
        task_set_deadline(0);
        task_sleep(RETRY_OPEN_MS);
    }
}

void ticket_loop_started(struct ticket *ticket, size_t index)
{
    if (index != 0)
        return;
    ticket->main_loop = loop_current();
    history_start(ticket->history);
    history_prune_start(ticket->prune);
    if (ticket->app->settings->database_url.len) /* else there can be no other server */
        ticket->announcer = announcer_start(ticket->app->coord, ticket);
    if (!task_start(open_default, ticket))
        log_error("no task for opening the house");
}

void ticket_loop_stopping(struct ticket *ticket)
{
    for (struct office *office = ticket_first_office(ticket); office; office = office->next)
        listeners_close_loop(office->listeners, ticket->loops);
    if (loop_current() != ticket->main_loop)
        return;
    history_stop(ticket->history);
    history_prune_stop(ticket->prune);
    if (ticket->announcer)
        announcer_stop(ticket->announcer);
}

bool ticket_busy(struct ticket *ticket)
{
    return loop_current() == ticket->main_loop && history_pending(ticket->history) &&
           !db_trouble(ticket->app->reservations);
}

const char *ticket_trouble(struct ticket *ticket)
{
    return atomic_load(&ticket->opened) ? NULL : "The house is not open yet.";
}

bool ticket_forget_person(struct db *reservations, struct str user)
{
    return personal_forget(reservations, user);
}

struct history *ticket_history(struct ticket *ticket)
{
    return ticket->history;
}

uint64_t ticket_history_left_out(const struct ticket *ticket)
{
    return history_left_out(ticket->history);
}

uint64_t ticket_history_dropped(const struct ticket *ticket)
{
    return history_dropped(ticket->history);
}

void ticket_count(struct ticket *ticket, enum ticket_attempt attempt)
{
    atomic_fetch_add_explicit(&ticket->attempts[attempt], 1, memory_order_relaxed);
}

uint64_t ticket_attempts(const struct ticket *ticket, enum ticket_attempt attempt)
{
    return atomic_load_explicit(&ticket->attempts[attempt], memory_order_relaxed);
}

const char *ticket_attempt_name(enum ticket_attempt attempt)
{
    static const char *const names[ATTEMPT_COUNT] = {
        [ATTEMPT_CLAIMED] = "claimed",       [ATTEMPT_SOLD_OUT] = "sold_out",
        [ATTEMPT_DUPLICATE] = "duplicate",   [ATTEMPT_ALREADY_RESERVED] = "already_reserved",
        [ATTEMPT_SEAT_TAKEN] = "seat_taken", [ATTEMPT_CONTENTION] = "contention",
        [ATTEMPT_RELEASED] = "released",     [ATTEMPT_NOT_RESERVED] = "not_reserved",
        [ATTEMPT_FAILED] = "failed",         [ATTEMPT_RELEASED_BY_OPERATOR] = "released_by_operator",
    };
    return names[attempt];
}
