#include "task/task.h"

#include "base/clock.h"
#include "base/log.h"
#include "task/task_internal.h"

#include <assert.h>
#include <stdlib.h>

struct task {
    struct context context;
    struct loop *loop;
    struct task *next;        /* in idle or ready */
    struct task *next_all;    /* in all */
    struct deadline wait_end; /* of the current wait */
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

static void deadline_passed(struct deadline *wait_end)
{
    task_resume((struct task *)((char *)wait_end - offsetof(struct task, wait_end)));
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
    deadline_init(&task->wait_end, &loop->deadlines, deadline_passed);
    task->next_all = pool->all;
    pool->all = task;
    pool->created++;
    return task;
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

void wakeup_prepare(struct wakeup *wakeup)
{
    struct task *self = task_self();
    assert(self);
    *wakeup = (struct wakeup){.task = self, .loop = self->loop};
}

static bool wait_at_most(struct wakeup *wakeup, int64_t mono_ns)
{
    struct task *self = wakeup->task;
    if (wakeup->done)
        return true;
    if (mono_ns)
        deadline_arm(&self->wait_end, mono_ns);
    wakeup->waiting = true;
    task_suspend(self);
    wakeup->waiting = false;
    if (mono_ns)
        deadline_disarm(&self->wait_end);
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
        deadline_close(&task->wait_end);
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
