#include "services/ticket/announce.h"

#include "base/clock.h"
#include "base/log.h"
#include "coord/coord.h"
#include "services/ticket/ticket.h"
#include "task/task.h"

#include <stdio.h>
#include <stdlib.h>

enum { CHECK_MS = 1000, MESSAGE_MAX = 256 * 1024 };

static const struct str CHANNEL = STR_INIT("houses");

struct announcer {
    struct coord *coord;
    struct ticket *ticket;
    struct coord_subscription *subscription;
    uv_timer_t check;
    bool refreshing, again; /* a task reads the database; once more after it */
    bool was_cut_off;       /* the shared state may have been emptied */
};

/* Where a gateway in front draws its numbers (deploy/openresty). Ours come from the database. */
static struct str gateway_sequence_key(const struct office *office, char *out, size_t size)
{
    int length = snprintf(out, size, "{%s}:fcfs:seq", office->show.schedule);
    return str_make(out, (size_t)length);
}

/* "house generation version seat:owner seat:owner …", owners in hex, 0 for a free seat. */
char *announcement_write(const struct office *office)
{
    struct buf text = BUF_INIT(MESSAGE_MAX);
    buf_add_format(&text, "%lld %lld %lld", (long long)office->id, (long long)office->batch_generation,
                   (long long)office->batch_version);
    for (size_t i = 0; i < office->batch_change_count; i++)
        buf_add_format(&text, " %lld:%llx", (long long)office->batch_changes[i].seat,
                       (unsigned long long)office->batch_changes[i].owner);
    if (!buf_c_string(&text) || text.failed)
        buf_free(&text);
    return text.data;
}

static void publish(struct office *office, struct str message)
{
    if (coord_publish(office->announcer->coord, CHANNEL, message) != COORD_OK)
        log_warn("the other servers were not told of a change; they will find it in the database",
                 LOG_C("schedule", office->show.schedule));
}

void announce(struct office *office, struct claim *claim)
{
    if (!claim->announcement)
        return;
    publish(office, str_from(claim->announcement));
    free(claim->announcement);
    claim->announcement = NULL;
}

/* A version that nobody can have: makes everybody read. */
void announce_reset(struct office *office)
{
    char message[64], key[SCHEDULE_MAX + 16];
    if (!office->announcer)
        return;
    int length = snprintf(message, sizeof(message), "%lld 0 0", (long long)office->id);
    publish(office, str_make(message, (size_t)length));
    if (coord_delete(office->announcer->coord, gateway_sequence_key(office, key, sizeof(key))) == COORD_UNAVAILABLE)
        log_warn("the gateway's sequence could not be reset", LOG_C("schedule", office->show.schedule));
}

/* Listening. */

/* A gateway must not number anew what has been numbered already, when Redis came back empty. */
static void raise_gateway_sequence(struct announcer *announcer, struct office *office)
{
    char key[SCHEDULE_MAX + 16];
    if (office->sequence > 0 && coord_sequence_raise(announcer->coord, gateway_sequence_key(office, key, sizeof(key)),
                                                     office->sequence) != COORD_OK)
        announcer->was_cut_off = true; /* with the next check */
}

static void refresh_all(void *argument)
{
    struct announcer *announcer = argument;
    do {
        bool after_gap = announcer->was_cut_off;
        announcer->again = announcer->was_cut_off = false;
        task_set_deadline(clock_mono_ns() + 5 * NS_PER_S);
        bool refreshed = office_refresh_all(ticket_first_office(announcer->ticket));
        for (struct office *office = ticket_first_office(announcer->ticket); office; office = office->next)
            if (!refreshed)
                house_distrust(office->house);
            else if (after_gap)
                raise_gateway_sequence(announcer, office);
    } while (announcer->again);
    announcer->refreshing = false;
}

static void refresh_soon(struct announcer *announcer)
{
    if (announcer->refreshing) {
        announcer->again = true;
        return;
    }
    announcer->refreshing = true;
    if (!task_start(refresh_all, announcer))
        announcer->refreshing = false; /* the next check tries again */
}

static bool parse_change(struct str item, struct house_seat *change)
{
    char copy[48], *end;
    if (item.len >= sizeof(copy))
        return false;
    memcpy(copy, item.ptr, item.len);
    copy[item.len] = '\0';
    change->seat = strtoll(copy, &end, 10);
    if (*end != ':')
        return false;
    change->owner = strtoull(end + 1, &end, 16);
    return *end == '\0';
}

static bool parse_number(struct str *rest, int64_t *number)
{
    struct str item;
    return str_split(rest, ' ', &item) && str_to_int64(item, number);
}

static void on_message(void *context, struct str message)
{
    struct announcer *announcer = context;
    int64_t house, generation, version;
    struct str item;
    if (!parse_number(&message, &house) || !parse_number(&message, &generation) || !parse_number(&message, &version))
        return;
    struct office *office = ticket_office_by_id(announcer->ticket, house);
    if (!office)
        return; /* not opened here */

    struct house_state state = house_state(office->house);
    struct house_seat *changes = calloc(message.len / 3 + 1, sizeof(*changes));
    size_t count = 0;
    bool good = changes != NULL;
    while (good && str_split(&message, ' ', &item))
        good = parse_change(item, &changes[count]) && changes[count].seat >= 1 && changes[count++].seat <= state.seats;
    if (!good || generation != state.generation || !house_apply(office->house, generation, version, changes, count))
        refresh_soon(announcer);
    free(changes);
}

static void on_gap(void *context)
{
    struct announcer *announcer = context;
    for (struct office *office = ticket_first_office(announcer->ticket); office; office = office->next)
        house_distrust(office->house);
    announcer->was_cut_off = true;
    refresh_soon(announcer);
}

static void on_check(uv_timer_t *timer)
{
    refresh_soon(timer->data);
}

struct announcer *announcer_start(struct coord *coord, struct ticket *ticket)
{
    struct announcer *announcer = calloc(1, sizeof(*announcer));
    if (!announcer)
        return NULL;
    announcer->coord = coord;
    announcer->ticket = ticket;
    uv_timer_init(loop_uv(loop_current()), &announcer->check);
    announcer->check.data = announcer;
    uv_timer_start(&announcer->check, on_check, CHECK_MS, CHECK_MS);
    announcer->subscription =
        coord_subscribe(coord, CHANNEL,
                        (struct coord_subscriber){.message = on_message, .gap = on_gap, .context = announcer});
    return announcer;
}

void announcer_stop(struct announcer *announcer)
{
    if (announcer->subscription)
        coord_unsubscribe(announcer->subscription);
    uv_close((uv_handle_t *)&announcer->check, NULL);
}

void announcer_free(struct announcer *announcer)
{
    free(announcer);
}
