#include "services/ticket/renderer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/turns.h"
#include "task/task.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    SMALL_SEATS = 512,         /* a tenth of a millisecond: not worth another thread */
    NICENESS = 5,              /* the loops have the larger share of the processor */
    REST_FACTOR = 2,           /* the thread rests so many times what an edition took, */
    REST_MAX_MS = 50,          /* and not longer than this: somebody waits */
    IDLE_S = 10,               /* an edition is kept for so long after its last reader came */
    TIDY_S = 1,                /* how often that is looked at */
    GIVE_BACK_BYTES = 2 << 20, /* so much must have been freed to bother the system with it */
};

/* Somebody who waits for the next edition; on the stack of their task. */
struct reader {
    struct reader *next;
    struct wakeup done;
    struct edition *edition;
};

struct rendering {
    struct renderer *renderer;
    struct house *house;
    enum edition_form form;
    struct rendering *next;   /* of all, guarded by the renderer's mutex */
    struct rendering *behind; /* in the queue, guarded by the renderer's mutex */

    pthread_mutex_t mutex;
    struct edition *edition; /* the newest; NULL: none */
    struct reader *waiting;
    bool queued; /* the renderer will come */
    bool busy;   /* the renderer makes an edition, from what the house was before those in `waiting` came */
    int64_t read_ns;
};

struct renderer {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t called;
    struct rendering *all;
    struct rendering *first, **end; /* the queue */
    bool stopping;
    size_t max_bytes;  /* of all editions of the process */
    size_t most_bytes; /* since memory was last given back */
};

/* By the number of edits, since a version may come twice: when a backup was restored. */
static bool shows(const struct edition *edition, const struct house_state *state)
{
    return edition && edition->state.edits == state->edits;
}

static bool is_full(const struct renderer *renderer)
{
    return edition_bytes() >= renderer->max_bytes;
}

/* Where memory is short the edition before goes first, and *before is NULL. If that does not help, since slow readers
 * still hold it and others, there is no new one. */
static struct edition *make_edition(const struct rendering *rendering, struct edition **before)
{
    if (is_full(rendering->renderer)) {
        edition_release(*before);
        *before = NULL;
    }
    return is_full(rendering->renderer) ? NULL : edition_make(rendering->house, rendering->form, *before);
}

/* Each with a reference of its own. */
static void hand_out(struct reader *readers, struct edition *edition)
{
    struct wakeup_batch batch;
    wakeup_batch_init(&batch);
    while (readers) {
        struct reader *reader = readers;
        readers = reader->next; /* gone when it is woken */
        reader->edition = edition;
        if (edition)
            shared_body_hold(&edition->body);
        wakeup_batch_add(&batch, &reader->done);
    }
    wakeup_batch_send(&batch);
}

/* On the renderer's thread. Whoever comes from now on needs the next edition. */
static void render(struct rendering *rendering)
{
    pthread_mutex_lock(&rendering->mutex);
    struct reader *readers = rendering->waiting;
    struct edition *before = rendering->edition;
    rendering->edition = NULL;
    rendering->waiting = NULL;
    rendering->queued = false;
    rendering->busy = true;
    pthread_mutex_unlock(&rendering->mutex);

    struct edition *edition = make_edition(rendering, &before);

    pthread_mutex_lock(&rendering->mutex);
    rendering->busy = false;
    rendering->edition = edition ? edition : before;
    pthread_mutex_unlock(&rendering->mutex);
    hand_out(readers, edition); /* the rendering has kept its own reference, so it is still there */
    if (edition)
        edition_release(before);
}

/* Reading. */

static void call_renderer(struct rendering *rendering)
{
    struct renderer *renderer = rendering->renderer;
    pthread_mutex_lock(&renderer->mutex);
    rendering->behind = NULL;
    *renderer->end = rendering;
    renderer->end = &rendering->behind;
    pthread_cond_signal(&renderer->called);
    pthread_mutex_unlock(&renderer->mutex);
}

static bool take_back(struct rendering *rendering, struct reader *reader)
{
    pthread_mutex_lock(&rendering->mutex);
    struct reader **link = &rendering->waiting;
    while (*link && *link != reader)
        link = &(*link)->next;
    bool waits = *link;
    if (waits)
        *link = reader->next;
    pthread_mutex_unlock(&rendering->mutex);
    return waits;
}

/* With the rendering's lock, which it gives back. */
static struct edition *wait_for_next(struct rendering *rendering, struct reader *reader)
{
    wakeup_prepare(&reader->done);
    reader->next = rendering->waiting;
    rendering->waiting = reader;
    bool call = !rendering->queued;
    rendering->queued = true;
    pthread_mutex_unlock(&rendering->mutex);
    if (call)
        call_renderer(rendering);
    if (!wakeup_wait(&reader->done)) {
        if (take_back(rendering, reader))
            return NULL;
        wakeup_wait_done(&reader->done); /* it is being made for us */
    }
    return reader->edition;
}

/* With the rendering's lock, while the renderer has nothing to do with it. */
static bool render_here(struct rendering *rendering)
{
    struct edition *edition = make_edition(rendering, &rendering->edition);
    if (!edition)
        return false;
    edition_release(rendering->edition);
    rendering->edition = edition;
    return true;
}

struct edition *rendering_read(struct rendering *rendering)
{
    struct house_state state = house_state(rendering->house);
    struct reader reader = {0};
    pthread_mutex_lock(&rendering->mutex);
    rendering->read_ns = clock_mono_ns();
    bool is_current = shows(rendering->edition, &state);
    if (!is_current && (state.seats > SMALL_SEATS || rendering->busy || rendering->queued))
        return wait_for_next(rendering, &reader);
    struct edition *edition = is_current || render_here(rendering) ? rendering->edition : NULL;
    if (edition)
        shared_body_hold(&edition->body);
    pthread_mutex_unlock(&rendering->mutex);
    return edition;
}

/* The thread. */

static void drop_if_idle(struct rendering *rendering, int64_t now)
{
    struct edition *idle = NULL;
    pthread_mutex_lock(&rendering->mutex);
    if (!rendering->queued && !rendering->busy && now - rendering->read_ns > IDLE_S * NS_PER_S) {
        idle = rendering->edition;
        rendering->edition = NULL;
    }
    pthread_mutex_unlock(&rendering->mutex);
    edition_release(idle);
}

static void tidy(struct renderer *renderer)
{
    pthread_mutex_lock(&renderer->mutex);
    for (struct rendering *rendering = renderer->all; rendering; rendering = rendering->next)
        drop_if_idle(rendering, clock_mono_ns());
    pthread_mutex_unlock(&renderer->mutex);
    size_t bytes = edition_bytes();
    if (bytes > renderer->most_bytes)
        renderer->most_bytes = bytes;
    if (renderer->most_bytes - bytes >= GIVE_BACK_BYTES) {
        malloc_trim(0);
        renderer->most_bytes = bytes;
    }
}

static void rest(int64_t spent_ns)
{
    int64_t ns = spent_ns * REST_FACTOR;
    ns = ns < REST_MAX_MS * NS_PER_MS ? ns : REST_MAX_MS * NS_PER_MS;
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* The next in the queue; NULL when it is time to tidy up, or to stop. */
static struct rendering *next_in_queue(struct renderer *renderer, int64_t tidy_ns)
{
    struct timespec until = {.tv_sec = tidy_ns / NS_PER_S, .tv_nsec = tidy_ns % NS_PER_S};
    pthread_mutex_lock(&renderer->mutex);
    int error = 0;
    while (!renderer->first && !renderer->stopping && error == 0)
        error = pthread_cond_timedwait(&renderer->called, &renderer->mutex, &until);
    struct rendering *first = renderer->first;
    if (first) {
        renderer->first = first->behind;
        if (!renderer->first)
            renderer->end = &renderer->first;
    }
    pthread_mutex_unlock(&renderer->mutex);
    return first;
}

static bool is_stopping(struct renderer *renderer)
{
    pthread_mutex_lock(&renderer->mutex);
    bool stopping = renderer->stopping;
    pthread_mutex_unlock(&renderer->mutex);
    return stopping;
}

static void *run(void *argument)
{
    struct renderer *renderer = argument;
    if (!turns_set(TURN_LONG_NS, NICENESS))
        log_warn("rendering large houses cannot be given a lower priority");
    int64_t tidy_ns = clock_mono_ns() + TIDY_S * NS_PER_S;
    while (!is_stopping(renderer)) {
        struct rendering *rendering = next_in_queue(renderer, tidy_ns);
        int64_t began = clock_mono_ns();
        if (rendering) {
            render(rendering);
            rest(clock_mono_ns() - began);
        }
        if (clock_mono_ns() >= tidy_ns) {
            tidy(renderer);
            tidy_ns = clock_mono_ns() + TIDY_S * NS_PER_S;
        }
    }
    return NULL;
}

/* Opening and closing. */

struct renderer *renderer_create(size_t max_bytes)
{
    struct renderer *renderer = calloc(1, sizeof(*renderer));
    if (!renderer)
        return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&renderer->called, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&renderer->mutex, NULL);
    renderer->end = &renderer->first;
    renderer->max_bytes = max_bytes;
    if (pthread_create(&renderer->thread, NULL, run, renderer) == 0)
        return renderer;
    pthread_cond_destroy(&renderer->called);
    pthread_mutex_destroy(&renderer->mutex);
    free(renderer);
    return NULL;
}

void renderer_stop(struct renderer *renderer)
{
    pthread_mutex_lock(&renderer->mutex);
    renderer->stopping = true;
    pthread_cond_signal(&renderer->called);
    pthread_mutex_unlock(&renderer->mutex);
    pthread_join(renderer->thread, NULL);
}

void renderer_destroy(struct renderer *renderer)
{
    pthread_cond_destroy(&renderer->called);
    pthread_mutex_destroy(&renderer->mutex);
    free(renderer);
}

struct rendering *rendering_open(struct renderer *renderer, struct house *house, enum edition_form form)
{
    struct rendering *rendering = calloc(1, sizeof(*rendering));
    if (!rendering)
        return NULL;
    rendering->renderer = renderer;
    rendering->house = house;
    rendering->form = form;
    pthread_mutex_init(&rendering->mutex, NULL);
    pthread_mutex_lock(&renderer->mutex);
    rendering->next = renderer->all;
    renderer->all = rendering;
    pthread_mutex_unlock(&renderer->mutex);
    return rendering;
}

void rendering_close(struct rendering *rendering)
{
    if (!rendering)
        return;
    struct renderer *renderer = rendering->renderer;
    pthread_mutex_lock(&renderer->mutex);
    struct rendering **link = &renderer->all;
    while (*link != rendering)
        link = &(*link)->next;
    *link = rendering->next;
    pthread_mutex_unlock(&renderer->mutex);
    edition_release(rendering->edition);
    pthread_mutex_destroy(&rendering->mutex);
    free(rendering);
}
