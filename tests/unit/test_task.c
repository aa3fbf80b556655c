#include "base/clock.h"
#include "base/log.h"
#include "task/offload.h"
#include "task/task.h"
#include "test.h"

#include <stdatomic.h>
#include <unistd.h>

/* Runs fn(arg) as the first task of a loop and stops the loop when it ends. */
struct first {
    void (*fn)(void *);
    void *arg;
    struct loop_message message;
};

static void run_first(void *argument)
{
    struct first *first = argument;
    first->fn(first->arg);
    loop_stop(loop_current());
}

static void start_first(struct loop_message *message)
{
    struct first *first = (struct first *)((char *)message - offsetof(struct first, message));
    assert_true(task_start(run_first, first));
}

static void run_on_loop(size_t max_tasks, void (*fn)(void *), void *arg)
{
    struct loop *loop = loop_create(max_tasks);
    assert_non_null(loop);
    struct first first = {.fn = fn, .arg = arg, .message.deliver = start_first};
    loop_post(loop, &first.message);
    loop_run(loop);
    loop_destroy(loop);
}

static void sleeps(void *arg)
{
    int64_t before = clock_mono_ns();
    assert_true(task_sleep(20));
    assert_true(clock_mono_ns() - before >= 20 * NS_PER_MS);
    *(bool *)arg = true;
}

static void test_sleep(void **state)
{
    (void)state;
    bool done = false;
    run_on_loop(4, sleeps, &done);
    assert_true(done);
}

/* ---- far deadlines: they share one timer ---- */

enum { SLEEPERS = 200 };

struct dormitory {
    struct wakeup all_awake;
    int started, asleep;
};

static void sleeps_long(void *argument)
{
    struct dormitory *dormitory = argument;
    int64_t ms = 150 + dormitory->started++ % 10 * 10;
    int64_t before = clock_mono_ns();
    struct wakeup never;
    wakeup_prepare(&never);
    assert_false(wakeup_wait_until(&never, before + ms * NS_PER_MS));
    assert_true(clock_mono_ns() >= before + ms * NS_PER_MS);
    assert_true(clock_mono_ns() < before + (ms + 1000) * NS_PER_MS);
    if (--dormitory->asleep == 0)
        wakeup_now(&dormitory->all_awake);
}

static void is_woken_before(void *argument)
{
    struct wakeup *early = argument;
    wakeup_prepare(early);
    assert_true(wakeup_wait_until(early, clock_mono_ns() + 60 * NS_PER_S));
}

static void opens_a_dormitory(void *argument)
{
    (void)argument;
    struct dormitory dormitory = {.asleep = SLEEPERS};
    struct wakeup early[SLEEPERS];
    wakeup_prepare(&dormitory.all_awake);
    for (int i = 0; i < SLEEPERS; i++) {
        assert_true(task_start(sleeps_long, &dormitory));
        assert_true(task_start(is_woken_before, &early[i]));
    }
    task_sleep(10);
    for (int i = 0; i < SLEEPERS; i++)
        wakeup_now(&early[i]);
    wakeup_wait_done(&dormitory.all_awake);
}

static void test_far_deadlines(void **state)
{
    (void)state;
    run_on_loop(2 * SLEEPERS + 1, opens_a_dormitory, NULL);
}

static void sleeps_with_deadline(void *arg)
{
    (void)arg;
    int64_t before = clock_mono_ns();
    task_set_deadline(before + 10 * NS_PER_MS);
    assert_false(task_sleep(10000));
    assert_true(clock_mono_ns() - before < 5 * NS_PER_S);
}

static void test_deadline_cuts_a_sleep(void **state)
{
    (void)state;
    run_on_loop(4, sleeps_with_deadline, NULL);
}

struct counting {
    atomic_int running, finished;
    int refused;
};

static void short_task(void *arg)
{
    struct counting *counting = arg;
    task_sleep(5);
    atomic_fetch_add(&counting->finished, 1);
}

static void starts_many(void *arg)
{
    struct counting *counting = arg;
    for (int i = 0; i < 100; i++)
        if (!task_start(short_task, counting))
            counting->refused++;
    task_sleep(100);
}

static void test_tasks_are_bounded(void **state)
{
    (void)state;
    struct counting counting = {0};
    run_on_loop(11, starts_many, &counting);
    assert_int_equal(counting.finished, 10);
    assert_int_equal(counting.refused, 90);
}

static void add_one(void *arg)
{
    usleep(1000);
    atomic_fetch_add((atomic_int *)arg, 1);
}

enum { OFFLOADS = 40, OFFLOAD_THREADS = 2 };
struct offloading {
    struct offload *offload;
    atomic_int came, working;
    int inside, done, refused, left;
    struct wakeup *all_ended;
};

/* No work ends before all have come, however slow the machine is. */
static void count_workers(void *arg)
{
    struct offloading *o = arg;
    assert_true(atomic_fetch_add(&o->working, 1) < OFFLOAD_THREADS);
    while (atomic_load(&o->came) < OFFLOADS)
        usleep(1000);
    atomic_fetch_sub(&o->working, 1);
}

static void offloads(void *arg)
{
    struct offloading *o = arg;
    atomic_fetch_add(&o->came, 1);
    if (offload_enter(o->offload)) {
        assert_true(++o->inside <= 2 * OFFLOAD_THREADS);
        assert_true(task_offload(o->offload, count_workers, o));
        o->done++;
        o->inside--;
        offload_leave(o->offload);
    } else {
        o->refused++;
    }
    if (--o->left == 0)
        wakeup_now(o->all_ended);
}

static void offloads_many(void *arg)
{
    struct offloading *o = arg;
    struct wakeup ended;
    wakeup_prepare(&ended);
    o->left = OFFLOADS;
    o->all_ended = &ended;
    for (int i = 0; i < OFFLOADS; i++)
        assert_true(task_start(offloads, o));
    wakeup_wait_done(&ended);
}

static void test_offload_is_bounded(void **state)
{
    (void)state;
    struct offloading o = {.offload = offload_create(OFFLOAD_THREADS, 20, 60000)};
    run_on_loop(64, offloads_many, &o);
    offload_destroy(o.offload);
    assert_int_equal(o.done + o.refused, OFFLOADS);
    assert_int_equal(o.done, 2 * OFFLOAD_THREADS + 20);
}

static void work_slowly(void *arg)
{
    (void)arg;
    usleep(50000);
}

static void offload_slow(void *arg)
{
    struct offload *offload = arg;
    assert_true(offload_enter(offload));
    assert_true(task_offload(offload, work_slowly, NULL));
    offload_leave(offload);
}

static void offload_late(void *arg)
{
    struct offload *offload = arg;
    atomic_int worked = 0;
    assert_true(task_start(offload_slow, offload));
    task_sleep(5);
    task_set_deadline(clock_mono_ns() + 5 * NS_PER_MS);
    assert_true(offload_enter(offload));
    assert_false(task_offload(offload, add_one, &worked)); /* the deadline passed */
    offload_leave(offload);
    task_set_deadline(0);
    task_sleep(100);
    assert_int_equal(worked, 0);
}

static void test_offload_leaves_the_queue_at_its_deadline(void **state)
{
    (void)state;
    struct offload *offload = offload_create(1, 8, 1000);
    run_on_loop(8, offload_late, offload);
    offload_destroy(offload);
}

/* Wakes come from another thread in batches, to two loops. */
enum { WAITERS = 200 };
struct crowd {
    struct wakeup wakeups[2][WAITERS];
    atomic_int ready, woken;
    atomic_int left[2];
};
static struct crowd crowd;

static void wait_in_crowd(void *arg)
{
    struct wakeup *mine = arg;
    wakeup_prepare(mine);
    atomic_fetch_add(&crowd.ready, 1);
    wakeup_wait_done(mine);
    atomic_fetch_add(&crowd.woken, 1);
    int loop = mine >= &crowd.wakeups[1][0];
    if (atomic_fetch_sub(&crowd.left[loop], 1) == 1)
        loop_stop(loop_current());
}

static void start_crowd(void *arg)
{
    struct wakeup *wakeups = arg;
    for (int i = 0; i < WAITERS; i++)
        assert_true(task_start(wait_in_crowd, &wakeups[i]));
}

static void start_crowd_message(struct loop_message *message)
{
    struct first *start = (struct first *)((char *)message - offsetof(struct first, message));
    assert_true(task_start(start_crowd, start->arg));
}

static void *run_crowd_loop(void *arg)
{
    struct loop *loop = loop_create(WAITERS + 1);
    struct first first = {.arg = arg, .message.deliver = start_crowd_message};
    loop_post(loop, &first.message);
    loop_run(loop);
    loop_destroy(loop);
    return NULL;
}

static void test_wakes_from_another_thread_in_batches(void **state)
{
    (void)state;
    crowd.left[0] = crowd.left[1] = WAITERS;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_crowd_loop, crowd.wakeups[i]), 0);
    while (atomic_load(&crowd.ready) < 2 * WAITERS)
        usleep(1000);
    struct wakeup_batch batch;
    wakeup_batch_init(&batch);
    for (int i = 0; i < WAITERS; i++)
        for (int loop = 0; loop < 2; loop++)
            wakeup_batch_add(&batch, &crowd.wakeups[loop][i]);
    wakeup_batch_send(&batch);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(crowd.woken, 2 * WAITERS);
}

static void keeps_trace(void *arg)
{
    struct str trace = str_from(arg);
    log_set_trace(trace);
    task_sleep(5);
    assert_str_equal(log_trace(), trace);
}

static void keeps_traces(void *arg)
{
    (void)arg;
    assert_true(task_start(keeps_trace, "first"));
    assert_true(task_start(keeps_trace, "second"));
    task_sleep(20);
    assert_int_equal(log_trace().len, 0);
}

static void test_each_task_keeps_its_trace(void **state)
{
    (void)state;
    run_on_loop(8, keeps_traces, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleep),
        cmocka_unit_test(test_far_deadlines),
        cmocka_unit_test(test_deadline_cuts_a_sleep),
        cmocka_unit_test(test_tasks_are_bounded),
        cmocka_unit_test(test_offload_is_bounded),
        cmocka_unit_test(test_offload_leaves_the_queue_at_its_deadline),
        cmocka_unit_test(test_wakes_from_another_thread_in_batches),
        cmocka_unit_test(test_each_task_keeps_its_trace),
    };
    return cmocka_run_group_tests_name("task", tests, NULL, NULL);
}
