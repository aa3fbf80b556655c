#include "task/deadline.h"

#include "base/clock.h"

static void list_init(struct deadline_link *ends)
{
    ends->next = ends->previous = ends;
}

static void list_add(struct deadline_link *ends, struct deadline_link *link)
{
    link->previous = ends->previous;
    link->next = ends;
    link->previous->next = link->next->previous = link;
}

static void list_remove(struct deadline_link *link)
{
    link->previous->next = link->next;
    link->next->previous = link->previous;
    list_init(link);
}

void deadlines_init(struct deadlines *all, uv_loop_t *loop)
{
    list_init(&all->far);
    uv_timer_init(loop, &all->tick);
    all->tick.data = all;
}

void deadlines_close(struct deadlines *all)
{
    uv_close((uv_handle_t *)&all->tick, NULL);
}

void deadline_init(struct deadline *deadline, struct deadlines *all, void (*passed)(struct deadline *))
{
    *deadline = (struct deadline){.all = all, .passed = passed};
    list_init(&deadline->link);
    uv_timer_init(all->tick.loop, &deadline->timer);
    deadline->timer.data = deadline;
}

void deadline_close(struct deadline *deadline)
{
    uv_close((uv_handle_t *)&deadline->timer, NULL);
}

/* Whoever is told may arm, disarm and end anything; so those that have passed go into a list of their own first. */
static void look_through(uv_timer_t *tick)
{
    struct deadlines *all = tick->data;
    int64_t now = clock_mono_ns();
    struct deadline_link passed;
    list_init(&passed);
    if (all->far.next == &all->far)
        uv_timer_stop(tick);
    for (struct deadline_link *link = all->far.next, *next; link != &all->far; link = next) {
        next = link->next;
        if (((struct deadline *)link)->mono_ns > now)
            continue;
        list_remove(link);
        list_add(&passed, link);
    }
    while (passed.next != &passed) {
        struct deadline *deadline = (struct deadline *)passed.next;
        list_remove(&deadline->link);
        deadline->passed(deadline);
    }
}

static void timer_passed(uv_timer_t *timer)
{
    struct deadline *deadline = timer->data;
    deadline->passed(deadline);
}

/* libuv cuts its clock to whole milliseconds, and we cut what is left: two more make
 * sure that a wait never ends before its deadline. Ask before uv_update_time, so that
 * a pause of this thread in between can only make the wait longer. */
static void start_timer(struct deadline *deadline, int64_t left_ns)
{
    uv_update_time(deadline->timer.loop);
    uv_timer_start(&deadline->timer, timer_passed, left_ns <= 0 ? 0 : (uint64_t)(left_ns / NS_PER_MS) + 2, 0);
}

void deadline_arm(struct deadline *deadline, int64_t mono_ns)
{
    struct deadlines *all = deadline->all;
    int64_t left_ns = mono_ns - clock_mono_ns();
    deadline->mono_ns = mono_ns;
    deadline->is_far = left_ns > DEADLINE_NEAR_MS * NS_PER_MS;
    if (!deadline->is_far) {
        start_timer(deadline, left_ns);
        return;
    }
    list_add(&all->far, &deadline->link);
    if (!uv_is_active((uv_handle_t *)&all->tick))
        uv_timer_start(&all->tick, look_through, DEADLINE_TICK_MS, DEADLINE_TICK_MS);
}

void deadline_disarm(struct deadline *deadline)
{
    if (deadline->is_far)
        list_remove(&deadline->link);
    else
        uv_timer_stop(&deadline->timer);
}
