#include "rehearse/crowd_internal.h"

#include "base/clock.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_MAX = 512, WAIT_MAX_MS = 50, ARENA_BYTES = 1 << 20, RANGES_MAX_BYTES = 16 << 20 };

/* The next arrival that is this crowd's. */
static void find_next(struct crowd *crowd)
{
    int64_t at_ns;
    crowd->has_next = false;
    while (arrivals_next(&crowd->arrivals, &at_ns)) {
        uint64_t user = crowd->arrivals.given - 1;
        if (user % crowd->plan->threads != crowd->index)
            continue;
        crowd->has_next = true;
        crowd->next_user = user;
        crowd->next_due_ns = crowd->start_ns + at_ns;
        return;
    }
}

static void take_arrivals(struct crowd *crowd, int64_t now_ns)
{
    if (atomic_load(&crowd->doors_closed))
        crowd->has_next = false;
    while (crowd->has_next && crowd->next_due_ns <= now_ns) {
        visit_arrive(crowd, crowd->next_user, crowd->next_due_ns);
        find_next(crowd);
    }
}

static void wake_visits(struct crowd *crowd, int64_t now_ns)
{
    struct waker *waker;
    while ((waker = wake_heap_first(&crowd->wakers)) && waker->at_ns <= now_ns) {
        struct visit *visit = (struct visit *)waker;
        wake_heap_remove(&crowd->wakers, waker);
        if (visit->link)
            link_send_more(crowd, visit->link);
        else if (atomic_load(&crowd->doors_closed))
            visit_free(crowd, visit);
        else
            visit_start_request(crowd, visit);
    }
}

static void end_oldest(struct crowd *crowd, enum end end)
{
    struct visit *visit = crowd->oldest;
    struct link *link = visit->link;
    enum pool pool = visit_pool(crowd, visit);
    if (!link) { /* the oldest request is the first in its queue */
        crowd->queue[pool] = visit->next_in_queue;
        if (!crowd->queue[pool])
            crowd->queue_end[pool] = &crowd->queue[pool];
    }
    if (end == END_TIMEOUT && !visit->sent_ns)
        end = link ? END_REFUSED : END_NOT_SENT;
    visit_end_request(crowd, visit, end, NULL);
    if (link)
        link_close(crowd, link);
}

static void end_late_requests(struct crowd *crowd, int64_t now_ns)
{
    while (crowd->oldest && crowd->oldest->due_ns + crowd->plan->timeout_ns <= now_ns)
        end_oldest(crowd, END_TIMEOUT);
}

static struct timespec time_to_wait(const struct crowd *crowd)
{
    int64_t now_ns = clock_mono_ns(), until_ns = now_ns + WAIT_MAX_MS * NS_PER_MS;
    const struct waker *waker = wake_heap_first(&crowd->wakers);
    if (crowd->has_next && crowd->next_due_ns < until_ns)
        until_ns = crowd->next_due_ns;
    if (waker && waker->at_ns < until_ns)
        until_ns = waker->at_ns;
    int64_t wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    return (struct timespec){.tv_sec = wait_ns / NS_PER_S, .tv_nsec = wait_ns % NS_PER_S};
}

/* Once the doors are closed, nobody who only waits to ask again will. */
static void note_state(struct crowd *crowd)
{
    bool waiting = wake_heap_first(&crowd->wakers) && !atomic_load(&crowd->doors_closed);
    atomic_store(&crowd->all_came, !crowd->has_next);
    atomic_store(&crowd->done, !crowd->has_next && !crowd->oldest && !waiting);
}

static void *crowd_main(void *argument)
{
    struct crowd *crowd = argument;
    struct epoll_event events[EVENTS_MAX];
    while (!atomic_load(&crowd->stopping)) {
        struct timespec wait = time_to_wait(crowd);
        int ready = epoll_pwait2(crowd->epoll, events, EVENTS_MAX, &wait, NULL);
        pthread_mutex_lock(&crowd->mutex);
        int64_t now_ns = clock_mono_ns();
        for (int i = 0; i < ready; i++)
            link_event(crowd, events[i].data.ptr, events[i].events);
        take_arrivals(crowd, now_ns);
        wake_visits(crowd, now_ns);
        links_serve(crowd);
        end_late_requests(crowd, now_ns);
        note_state(crowd);
        pthread_mutex_unlock(&crowd->mutex);
    }
    pthread_mutex_lock(&crowd->mutex);
    while (crowd->oldest)
        end_oldest(crowd, END_CUT_OFF);
    pthread_mutex_unlock(&crowd->mutex);
    return NULL;
}

static bool crowd_init(struct crowd *crowd)
{
    const struct plan *plan = crowd->plan;
    size_t share = plan->connections / plan->threads;
    crowd->link_limit = share ? share : 1;
    crowd->links = calloc(crowd->link_limit, sizeof(*crowd->links));
    crowd->read_bytes = malloc(READ_BYTES);
    crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!crowd->links || !crowd->read_bytes || crowd->epoll < 0)
        return false;
    for (size_t i = crowd->link_limit; i-- > 0;) {
        crowd->links[i] = (struct link){.fd = -1, .next = crowd->unused};
        crowd->unused = &crowd->links[i];
    }
    for (enum pool pool = 0; pool < POOL_COUNT; pool++)
        crowd->queue_end[pool] = &crowd->queue[pool];
    crowd->arrivals = arrivals_start(&plan->curve, plan->users, plan->duration_ns, plan->seed);
    find_next(crowd);
    return true;
}

struct crowd *crowd_start(const struct plan *plan, size_t index, int64_t start_ns, struct history_writer *history)
{
    struct crowd *crowd = calloc(1, sizeof(*crowd));
    if (!crowd)
        return NULL;
    crowd->plan = plan;
    crowd->index = index;
    crowd->start_ns = start_ns;
    crowd->epoll = -1;
    crowd->history = history;
    crowd->ranges = BUF_INIT(RANGES_MAX_BYTES);
    arena_init(&crowd->arena, ARENA_BYTES);
    pthread_mutex_init(&crowd->mutex, NULL);
    if (crowd_init(crowd) && pthread_create(&crowd->thread, NULL, crowd_main, crowd) == 0)
        return crowd;
    crowd->thread = 0;
    crowd_destroy(crowd);
    return NULL;
}

void crowd_tally(struct crowd *crowd, struct tally *into)
{
    pthread_mutex_lock(&crowd->mutex);
    tally_merge(into, &crowd->tally);
    pthread_mutex_unlock(&crowd->mutex);
}

bool crowd_is_done(struct crowd *crowd)
{
    return atomic_load(&crowd->done);
}

bool crowd_has_come(struct crowd *crowd)
{
    return atomic_load(&crowd->all_came);
}

void crowd_close_doors(struct crowd *crowd)
{
    atomic_store(&crowd->doors_closed, true);
}

void crowd_stop(struct crowd *crowd)
{
    atomic_store(&crowd->stopping, true);
    if (crowd->thread)
        pthread_join(crowd->thread, NULL);
    crowd->thread = 0;
}

static void free_visits(struct crowd *crowd)
{
    for (struct waker *waker; (waker = wake_heap_first(&crowd->wakers));) {
        wake_heap_remove(&crowd->wakers, waker);
        visit_free(crowd, (struct visit *)waker);
    }
    wake_heap_free(&crowd->wakers);
    for (struct visit *visit; (visit = crowd->free_visits);) {
        crowd->free_visits = visit->next_in_queue;
        free(visit);
    }
}

void crowd_destroy(struct crowd *crowd)
{
    crowd_stop(crowd);
    free_visits(crowd);
    for (size_t i = 0; crowd->links && i < crowd->link_limit; i++) {
        if (crowd->links[i].fd >= 0)
            close(crowd->links[i].fd);
        buf_free(&crowd->links[i].input);
    }
    free(crowd->links);
    free(crowd->read_bytes);
    if (crowd->epoll >= 0)
        close(crowd->epoll);
    buf_free(&crowd->ranges);
    arena_free(&crowd->arena);
    pthread_mutex_destroy(&crowd->mutex);
    free(crowd);
}
