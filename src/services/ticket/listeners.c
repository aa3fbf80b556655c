#include "services/ticket/listeners.h"

#include "base/clock.h"
#include "base/random.h"
#include "http/stream.h"
#include "services/ticket/seats_json.h"
#include "task/loop.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HEARTBEAT_MS = 15000,
    COLLECT_MS = 20, /* the least time between two events */
    REST_FACTOR = 2, /* and at least so many times what the last one cost: a third of the loop's time at most */
    EVENT_MAX = 32 * 1024 * 1024,
    CHANGES_MAX = 4096,       /* more than that: everything anew */
    SHARED_FROM_SEATS = 4096, /* from here on a snapshot is worth keeping for the next who comes */
};

struct listener {
    struct listener *next, **link;
    struct stream *stream;
};

struct listeners {
    struct office *office;
    struct loop *loop; /* NULL: this loop has had no listener yet */
    struct listener *first;
    uv_timer_t collect, heartbeat;
    struct loop_message changed;
    atomic_bool told; /* `changed` is on its way, or its event is still to be sent: it must not be posted again */
    struct house_state sent;  /* what all listeners of this loop have */
    struct payload *snapshot; /* of a large house, for those who come; NULL: none. It is sent with what changed since */
    struct house_state snapshot_of;
    uint64_t next_event_ms; /* uv_now */
    size_t loops;           /* in the first of the array: how many there are */
    _Atomic(struct loop *) posted_to;
};

/* Building events. */

static void begin_event(struct buf *out, const char *name, const struct house_state *state)
{
    buf_add_format(out, "event: %s\nid: %lld-%lld\ndata: ", name, (long long)state->generation,
                   (long long)state->version);
}

static struct payload *end_event(struct buf *out)
{
    buf_add(out, STR("\n\n"));
    struct payload *payload = out->failed ? NULL : payload_create(buf_str(out));
    buf_free(out);
    return payload;
}

static struct payload *snapshot_event(struct office *office, struct house_state *state)
{
    struct buf out = BUF_INIT(EVENT_MAX), data = BUF_INIT(EVENT_MAX);
    struct json_writer json = json_write_to(&data);
    *state = seats_json_snapshot(&json, office);
    begin_event(&out, "snapshot", state);
    buf_add(&out, buf_str(&data));
    out.failed |= data.failed;
    buf_free(&data);
    return end_event(&out);
}

/* The changes after `from`; false when they are too many, or of another house. *event is NULL when there is nothing
 * new; also when there is no memory, and then *state stays `from`, to be tried again with the next change. */
static bool changes_event(struct office *office, const struct house_state *from, struct payload **event,
                          struct house_state *state)
{
    struct house_seat *changes = calloc(CHANGES_MAX, sizeof(*changes));
    struct house_state now;
    struct payload *payload = NULL;
    *event = NULL;
    *state = *from;
    if (!changes)
        return true;
    ptrdiff_t count = house_changes_since(office->house, from->generation, from->version, changes, CHANGES_MAX, &now);
    if (count > 0) {
        struct buf out = BUF_INIT(EVENT_MAX);
        begin_event(&out, "seat", &now);
        struct json_writer json = json_write_to(&out);
        seats_json_changes(&json, &now, changes, (size_t)count);
        payload = end_event(&out);
    }
    if (payload || count == 0)
        *state = now;
    free(changes);
    *event = payload;
    return count >= 0;
}

/* Sending. */

static void send_to_all(struct listeners *list, struct payload *payload)
{
    struct listener *next;
    for (struct listener *listener = list->first; listener; listener = next) {
        next = listener->next;
        stream_write(listener->stream, payload);
    }
    payload_release(payload);
}

static void send_changes(struct listeners *list)
{
    if (!list->first)
        return;
    int64_t began = clock_thread_ns();
    struct house_state state;
    struct payload *payload;
    if (!changes_event(list->office, &list->sent, &payload, &state) &&
        !(payload = snapshot_event(list->office, &state)))
        state = list->sent;
    list->sent = state;
    if (payload)
        send_to_all(list, payload);
    int64_t rest_ms = (clock_thread_ns() - began) * REST_FACTOR / NS_PER_MS;
    uv_update_time(loop_uv(list->loop));
    list->next_event_ms = uv_now(loop_uv(list->loop)) + (uint64_t)(rest_ms > COLLECT_MS ? rest_ms : COLLECT_MS);
}

static void on_collected(uv_timer_t *timer)
{
    struct listeners *list = timer->data;
    atomic_store(&list->told, false);
    send_changes(list);
}

static void on_changed(struct loop_message *message)
{
    struct listeners *list = (struct listeners *)((char *)message - offsetof(struct listeners, changed));
    if (!list->loop) {
        atomic_store(&list->told, false);
        return;
    }
    uint64_t now = uv_now(loop_uv(list->loop));
    if (now < list->next_event_ms) {
        uv_timer_start(&list->collect, on_collected, list->next_event_ms - now, 0);
        return;
    }
    atomic_store(&list->told, false);
    send_changes(list);
}

/* Any thread: the house has changed. */
static void house_changed(void *context)
{
    struct listeners *all = context;
    for (size_t i = 0; i < all[0].loops; i++) {
        struct loop *loop = atomic_load(&all[i].posted_to);
        if (loop && !atomic_exchange(&all[i].told, true))
            loop_post(loop, &all[i].changed);
    }
}

static void drop_snapshot(struct listeners *list)
{
    if (list->snapshot)
        payload_release(list->snapshot);
    list->snapshot = NULL;
}

static void on_heartbeat(uv_timer_t *timer)
{
    struct listeners *list = timer->data;
    drop_snapshot(list); /* kept longer, it would be memory for nobody */
    struct payload *payload = payload_create(STR(": still here\n\n"));
    if (payload)
        send_to_all(list, payload);
}

/* Coming and going. */

struct listeners *listeners_create(struct office *office, size_t loops)
{
    struct listeners *listeners = calloc(loops, sizeof(*listeners));
    if (!listeners)
        return NULL;
    for (size_t i = 0; i < loops; i++) {
        listeners[i].office = office;
        listeners[i].loops = loops;
        listeners[i].changed.deliver = on_changed;
    }
    house_on_change(office->house, house_changed, listeners);
    return listeners;
}

void listeners_destroy(struct listeners *listeners)
{
    free(listeners);
}

static void open_on_this_loop(struct listeners *list)
{
    list->loop = loop_current();
    uv_timer_init(loop_uv(list->loop), &list->collect);
    uv_timer_init(loop_uv(list->loop), &list->heartbeat);
    list->collect.data = list->heartbeat.data = list;
    uv_timer_start(&list->heartbeat, on_heartbeat, HEARTBEAT_MS, HEARTBEAT_MS);
    atomic_store(&list->posted_to, list->loop);
}

void listeners_close_loop(struct listeners *listeners, size_t loops)
{
    for (size_t i = 0; i < loops; i++) {
        struct listeners *list = &listeners[i];
        if (atomic_load(&list->posted_to) != loop_current()) /* `loop` of another loop's list is not ours to read */
            continue;
        atomic_store(&list->posted_to, NULL);
        drop_snapshot(list);
        uv_close((uv_handle_t *)&list->collect, NULL);
        uv_close((uv_handle_t *)&list->heartbeat, NULL);
        list->loop = NULL;
    }
}

static void on_stream_closed(void *context)
{
    struct listener *listener = context;
    *listener->link = listener->next;
    if (listener->next)
        listener->next->link = listener->link;
    free(listener);
}

static void add_to_list(struct listeners *list, struct listener *listener)
{
    listener->next = list->first;
    listener->link = &list->first;
    if (list->first)
        list->first->link = &listener->next;
    list->first = listener;
}

/* "generation-version", as we wrote it into the event's id. */
static bool read_event_id(struct str id, struct house_state *seen)
{
    struct str generation;
    return str_split(&id, '-', &generation) && str_to_int64(generation, &seen->generation) && id.ptr &&
           str_to_int64(id, &seen->version);
}

/* When its connection breaks, a browser comes back after this time; not all of them at once. */
static struct payload *retry_hint(void)
{
    enum { LEAST_MS = 500, SPREAD_MS = 2000 };
    char line[32];
    int length = snprintf(line, sizeof(line), "retry: %d\n\n", LEAST_MS + (int)random_below(SPREAD_MS));
    return payload_create(str_make(line, (size_t)length));
}

static void send_to_one(struct listener *listener, struct payload *payload)
{
    if (!payload)
        return;
    stream_write(listener->stream, payload); /* before the stream has begun, it only queues */
    payload_release(payload);
}

/* The whole house. One that is large is not put together for each who comes: they share a snapshot, and get what has
 * changed since. */
static void send_house(struct listeners *list, struct listener *listener, struct house_state *state)
{
    struct payload *changes = NULL;
    if (!list->snapshot || !changes_event(list->office, &list->snapshot_of, &changes, state)) {
        drop_snapshot(list);
        list->snapshot = snapshot_event(list->office, state);
        list->snapshot_of = *state;
    }
    if (list->snapshot)
        stream_write(listener->stream, list->snapshot);
    send_to_one(listener, changes);
    if (state->seats < SHARED_FROM_SEATS)
        drop_snapshot(list);
}

/* All listeners of a loop must have the same state, for one event to serve them all: so the others get
 * their changes first, then the new one what it lacks. */
void listeners_add(struct listeners *listeners, struct request *rq)
{
    struct listeners *list = &listeners[request_loop_index(rq)];
    struct listener *listener = calloc(1, sizeof(*listener));
    if (!listener) {
        reply_error(rq, ERR_OVERLOADED);
        return;
    }
    listener->stream = reply_stream(rq, (struct stream_owner){on_stream_closed, listener});
    if (!listener->stream) {
        free(listener);
        return;
    }
    if (!list->loop)
        open_on_this_loop(list);
    if (list->first)
        send_changes(list);
    struct house_state seen = {0}, state;
    struct payload *missed;
    bool is_first = !list->first;
    add_to_list(list, listener);
    send_to_one(listener, retry_hint());
    if (read_event_id(request_header(rq, STR("Last-Event-ID")), &seen) &&
        changes_event(list->office, &seen, &missed, &state))
        send_to_one(listener, missed);
    else
        send_house(list, listener, &state);
    if (is_first)
        list->sent = state;
}
