#include "task/loop.h"

#include "task/task_internal.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>

static _Thread_local struct loop *current;

struct loop *loop_current(void)
{
    return current;
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

static struct loop_message *reversed(struct loop_message *newest)
{
    struct loop_message *oldest = NULL;
    while (newest) {
        struct loop_message *older = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = older;
    }
    return oldest;
}

static void receive(uv_async_t *wake)
{
    struct loop *loop = wake->data;
    struct loop_message *message = reversed(atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire));
    while (message) {
        struct loop_message *next = message->next; /* deliver may reuse the message */
        message->deliver(message);
        message = next;
    }
    if (atomic_load(&loop->stopping))
        uv_stop(&loop->uv);
}

/* Before the loop looks for events: whoever waits for this processor may be about to cause some, and found together
 * they cost less. Where nobody waits, it takes less than a microsecond. */
static void let_others_go_first(uv_prepare_t *looking)
{
    (void)looking;
    sched_yield();
}

struct loop *loop_create(size_t max_tasks)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return NULL;
    if (uv_loop_init(&loop->uv) != 0) {
        free(loop);
        return NULL;
    }
    if (uv_async_init(&loop->uv, &loop->wake, receive) != 0) {
        uv_loop_close(&loop->uv);
        free(loop);
        return NULL;
    }
    loop->wake.data = loop;
    uv_prepare_init(&loop->uv, &loop->looking);
    uv_prepare_start(&loop->looking, let_others_go_first);
    uv_unref((uv_handle_t *)&loop->looking); /* it alone keeps no loop alive */
    deadlines_init(&loop->deadlines, &loop->uv);
    task_pool_init(&loop->tasks, max_tasks);
    return loop;
}

void loop_run(struct loop *loop)
{
    assert(!current);
    current = loop;
    context_of_thread(&loop->tasks.scheduler);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    atomic_store(&loop->stopping, false); /* it may run again, to close what is open */
    current = NULL;
}

void loop_stop(struct loop *loop)
{
    atomic_store(&loop->stopping, true);
    uv_async_send(&loop->wake);
}

void loop_destroy(struct loop *loop)
{
    current = loop;
    task_pool_close_timers(&loop->tasks);
    deadlines_close(&loop->deadlines);
    uv_close((uv_handle_t *)&loop->looking, NULL);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    current = NULL;
    int busy = uv_loop_close(&loop->uv);
    assert(busy == 0);
    (void)busy;
    task_pool_free(&loop->tasks);
    free(loop);
}

/* Whoever finds the inbox empty signals; later ones ride along. */
static void post(struct loop *loop, struct loop_message *newest, struct loop_message *oldest)
{
    struct loop_message *head = atomic_load_explicit(&loop->inbox, memory_order_relaxed);
    do {
        oldest->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &head, newest, memory_order_release,
                                                    memory_order_relaxed));
    if (!head)
        uv_async_send(&loop->wake);
}

void loop_post(struct loop *loop, struct loop_message *message)
{
    post(loop, message, message);
}

void loop_post_chain(struct loop *loop, struct loop_message *first)
{
    struct loop_message *newest = reversed(first);
    post(loop, newest, first);
}
