#include "task/task.h"

#include "base/clock.h"
#include "base/log.h"
#include "task/task_internal.h"

#include <assert.h>
#include <stdlib.h>

struct task {
    struct context context;
    struct loop *loop;
    struct task *next;     /* in idle or ready */
    struct task *next_all; /* in all */
    uv_timer_t timer;      /* of the current wait */
    void (*fn)(void *);
    void *arg;
    int64_t deadline_ns;
    struct str trace; /* the log's trace id while the task runs */
};

static struct task_pool *pool_of(struct task *task)
{
    return &task->loop->tasks;
}

struct task *task_self(void)
{
    struct loop *loop = loop_current();
    return loop ? loop->tasks.running : NULL;
}

size_t task_count(void)
{
    struct loop *loop = loop_current();
    return loop ? loop->tasks.live : 0;
}

void task_set_deadline(int64_t mono_ns)
{
    task_self()->deadline_ns = mono_ns;
}

int64_t task_deadline(void)
{
    struct task *self = task_self();
    return self ? self->deadline_ns : 0;
}

/* A stack's whole life: one task after the other. */
static void task_main(void *argument)
{
    struct task *self = argument;
    struct task_pool *pool = pool_of(self);
    for (;;) {
        self->fn(self->arg);
        self->trace = (struct str){NULL, 0};
        self->deadline_ns = 0;
        self->next = pool->idle;
        pool->idle = self;
        pool->live--;
        context_switch(&self->context, &pool->scheduler);
    }
}

static struct task *task_create(struct loop *loop)
{
    struct task_pool *pool = &loop->tasks;
    if (pool->created == pool->max)
        return NULL;
    struct task *task = calloc(1, sizeof(*task));
    if (!task)
        return NULL;
    if (!context_create(&task->context, task_main, task)) {
        free(task);
        return NULL;
    }
    task->loop = loop;
    uv_timer_init(&loop->uv, &task->timer);
    task->timer.data = task;
    task->next_all = pool->all;
    pool->all = task;
    pool->created++;
    return task;
}

/* From the loop's own stack only. */
static void run_until_it_waits(struct task_pool *pool, struct task *task)
{
    struct str outer = log_trace();
    pool->running = task;
    log_set_trace(task->trace);
    context_switch(&pool->scheduler, &task->context);
    task->trace = log_trace();
    log_set_trace(outer);
    pool->running = NULL;
}

/* The single way into a task: at once when no task is running, else soon. */
static void task_resume(struct task *task)
{
    struct task_pool *pool = pool_of(task);
    if (pool->running) {
        task->next = NULL;
        *pool->ready_end = task;
        pool->ready_end = &task->next;
        return;
    }
    run_until_it_waits(pool, task);
    while ((task = pool->ready)) {
        pool->ready = task->next;
        if (!pool->ready)
            pool->ready_end = &pool->ready;
        run_until_it_waits(pool, task);
    }
}

bool task_start(void (*fn)(void *arg), void *arg)
{
    struct loop *loop = loop_current();
    struct task_pool *pool = &loop->tasks;
    struct task *task = pool->idle;
    if (task)
        pool->idle = task->next;
    else if (!(task = task_create(loop)))
        return false;
    pool->live++;
    task->fn = fn;
    task->arg = arg;
    task_resume(task);
    return true;
}

static void task_suspend(struct task *self)
{
    context_switch(&self->context, &pool_of(self)->scheduler);
}

static void deadline_passed(uv_timer_t *timer)
{
    task_resume(timer->data);
}

void wakeup_prepare(struct wakeup *wakeup)
{
    struct task *self = task_self();
    assert(self);
    *wakeup = (struct wakeup){.task = self, .loop = self->loop};
}

/* libuv cuts its clock to whole milliseconds, and we cut what is left: two more make
 * sure that a wait never ends before its deadline. Ask before uv_update_time, so that
 * a pause of this thread in between can only make the wait longer. */
static uint64_t ms_until(int64_t mono_ns)
{
    int64_t left = mono_ns - clock_mono_ns();
    return left <= 0 ? 0 : (uint64_t)(left / NS_PER_MS) + 2;
}

static bool wait_at_most(struct wakeup *wakeup, int64_t mono_ns)
{
    struct task *self = wakeup->task;
    if (wakeup->done)
        return true;
    if (mono_ns) {
        uint64_t ms = ms_until(mono_ns);
        uv_update_time(&self->loop->uv);
        uv_timer_start(&self->timer, deadline_passed, ms, 0);
    }
    wakeup->waiting = true;
    task_suspend(self);
    wakeup->waiting = false;
    if (mono_ns)
        uv_timer_stop(&self->timer);
    return wakeup->done;
}

bool wakeup_wait_until(struct wakeup *wakeup, int64_t mono_ns)
{
    int64_t own = wakeup->task->deadline_ns;
    return wait_at_most(wakeup, own && (!mono_ns || own < mono_ns) ? own : mono_ns);
}

bool wakeup_wait(struct wakeup *wakeup)
{
    return wait_at_most(wakeup, wakeup->task->deadline_ns);
}

void wakeup_wait_done(struct wakeup *wakeup)
{
    while (!wait_at_most(wakeup, 0))
        ;
}

void wakeup_now(struct wakeup *wakeup)
{
    assert(loop_current() == wakeup->loop && !wakeup->done);
    wakeup->done = true;
    if (wakeup->waiting)
        task_resume(wakeup->task);
}

static void deliver_wakeup(struct loop_message *message)
{
    wakeup_now((struct wakeup *)((char *)message - offsetof(struct wakeup, message)));
}

void wakeup_post(struct wakeup *wakeup)
{
    wakeup->message.deliver = deliver_wakeup;
    loop_post(wakeup->loop, &wakeup->message);
}

void wakeup_batch_init(struct wakeup_batch *batch)
{
    batch->loops = 0;
}

void wakeup_batch_add(struct wakeup_batch *batch, struct wakeup *wakeup)
{
    size_t i = 0;
    while (i < batch->loops && batch->lists[i].loop != wakeup->loop)
        i++;
    if (i == WAKEUP_LOOPS) { /* more loops than lists: still correct, one signal each */
        wakeup_post(wakeup);
        return;
    }
    if (i == batch->loops) {
        batch->lists[i].loop = wakeup->loop;
        batch->lists[i].end = &batch->lists[i].first;
        batch->loops++;
    }
    wakeup->message.deliver = deliver_wakeup;
    wakeup->message.next = NULL;
    *batch->lists[i].end = &wakeup->message;
    batch->lists[i].end = &wakeup->message.next;
}

void wakeup_batch_send(struct wakeup_batch *batch)
{
    for (size_t i = 0; i < batch->loops; i++)
        loop_post_chain(batch->lists[i].loop, batch->lists[i].first);
    batch->loops = 0;
}

bool task_sleep(int64_t ms)
{
    struct wakeup never;
    wakeup_prepare(&never);
    int64_t until = clock_mono_ns() + ms * NS_PER_MS;
    wakeup_wait_until(&never, until);
    return clock_mono_ns() >= until;
}

void task_pool_init(struct task_pool *pool, size_t max)
{
    *pool = (struct task_pool){.max = max};
    pool->ready_end = &pool->ready;
}

void task_pool_close_timers(struct task_pool *pool)
{
    for (struct task *task = pool->all; task; task = task->next_all)
        uv_close((uv_handle_t *)&task->timer, NULL);
}

void task_pool_free(struct task_pool *pool)
{
    assert(pool->live == 0);
    while (pool->all) {
        struct task *task = pool->all;
        pool->all = task->next_all;
        context_destroy(&task->context);
        free(task);
    }
}
