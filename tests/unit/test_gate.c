/* A gate: so many in at a time, so many waiting, none for longer than a moment, in the order in which they came. */
#include "task/gate.h"

#include "base/clock.h"
#include "command_task.h"
#include "task/task.h"
#include "test.h"

#include <stdatomic.h>

enum { SHORT_MS = 50, LONG_MS = 60000 };

struct scene {
    struct gate gate;
    int came, entered, refused;
    char order[16];
};

struct visitor {
    struct scene *scene;
    char name;
};

static void visit(void *argument)
{
    const struct visitor *visitor = argument;
    struct scene *scene = visitor->scene;
    scene->came++;
    if (!gate_enter(&scene->gate)) {
        scene->refused++;
        return;
    }
    scene->order[scene->entered++] = visitor->name;
}

static void wait_until(const int *number, int wanted)
{
    while (*number < wanted)
        assert_true(task_sleep(1));
    assert_int_equal(*number, wanted);
}

/* They share this task's loop, so each goes as far as it can before this returns. */
static void send_visitors(struct scene *scene, struct visitor *visitors, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(task_start(visit, &visitors[i]));
    wait_until(&scene->came, count);
}

static void check_scene(void (*work)(void *argument), size_t max_waiting, int64_t patience_ms)
{
    struct scene scene = {.entered = 0};
    gate_init(&scene.gate, 1, max_waiting, patience_ms);
    assert_true(command_run_task(work, &scene));
    gate_destroy(&scene.gate);
}

static void wait_in_order(void *argument)
{
    struct scene *scene = argument;
    struct visitor visitors[] = {{scene, 'a'}, {scene, 'b'}, {scene, 'c'}};
    assert_true(gate_enter(&scene->gate));
    send_visitors(scene, visitors, 3);
    assert_int_equal(scene->entered, 0);
    for (int left = 1; left <= 3; left++) {
        gate_leave(&scene->gate);
        wait_until(&scene->entered, left); /* one in for one out */
    }
    assert_string_equal(scene->order, "abc");
    gate_leave(&scene->gate);
    assert_true(gate_enter(&scene->gate)); /* the place was not lost */
}

static void test_who_waits_comes_in_when_another_leaves(void **state)
{
    (void)state;
    check_scene(wait_in_order, 3, LONG_MS);
}

static void wait_in_vain(void *argument)
{
    struct scene *scene = argument;
    assert_true(gate_enter(&scene->gate));
    int64_t before = clock_mono_ns();
    assert_false(gate_enter(&scene->gate));
    assert_true(clock_mono_ns() - before >= SHORT_MS * NS_PER_MS);
    gate_leave(&scene->gate);
    assert_true(gate_enter(&scene->gate)); /* nobody stands there any more to take the place */
}

static void test_patience_ends(void **state)
{
    (void)state;
    check_scene(wait_in_vain, 3, SHORT_MS);
}

static void wait_past_the_deadline(void *argument)
{
    struct scene *scene = argument;
    assert_true(gate_enter(&scene->gate));
    task_set_deadline(clock_mono_ns() + SHORT_MS * NS_PER_MS);
    assert_false(gate_enter(&scene->gate));
    task_set_deadline(0);
}

static void test_a_deadline_ends_patience(void **state)
{
    (void)state;
    check_scene(wait_past_the_deadline, 3, LONG_MS);
}

static void crowd(void *argument)
{
    struct scene *scene = argument;
    struct visitor visitors[] = {{scene, 'a'}, {scene, 'b'}, {scene, 'c'}, {scene, 'd'}, {scene, 'e'}};
    assert_true(gate_enter(&scene->gate));
    send_visitors(scene, visitors, 5);
    assert_int_equal(scene->refused, 3); /* at once */
    gate_leave(&scene->gate);
    gate_leave(&scene->gate);
    wait_until(&scene->entered, 2);
    assert_string_equal(scene->order, "ab");
}

static void test_so_many_may_wait(void **state)
{
    (void)state;
    check_scene(crowd, 2, LONG_MS);
}

/* Tasks of two loops come, wait, lose patience and leave, all at once. */
enum { PLACES = 3, REGULARS = 8, VISITS = 300 };
struct bustle {
    struct gate gate;
    atomic_int inside, visits;
};
struct group {
    struct bustle *bustle;
    struct wakeup all_left;
    int left;
};

static void come_and_go(void *argument)
{
    struct group *group = argument;
    struct bustle *bustle = group->bustle;
    for (int i = 0; i < VISITS; i++) {
        if (!gate_enter(&bustle->gate))
            continue;
        assert_true(atomic_fetch_add(&bustle->inside, 1) < PLACES);
        task_sleep(i % 3);
        atomic_fetch_add(&bustle->visits, 1);
        atomic_fetch_sub(&bustle->inside, 1);
        gate_leave(&bustle->gate);
    }
    if (--group->left == 0)
        wakeup_now(&group->all_left);
}

static void run_group(void *argument)
{
    struct group group = {.bustle = argument, .left = REGULARS};
    wakeup_prepare(&group.all_left);
    for (int i = 0; i < REGULARS; i++)
        assert_true(task_start(come_and_go, &group));
    wakeup_wait_done(&group.all_left);
}

static void *run_loop(void *bustle)
{
    assert_true(command_run_task(run_group, bustle));
    return NULL;
}

static void test_two_loops(void **state)
{
    (void)state;
    struct bustle bustle = {.inside = 0};
    pthread_t other;
    gate_init(&bustle.gate, PLACES, 2 * REGULARS, 2);
    assert_int_equal(pthread_create(&other, NULL, run_loop, &bustle), 0);
    run_loop(&bustle);
    pthread_join(other, NULL);
    assert_true(bustle.visits > 0);
    assert_int_equal(bustle.gate.places, PLACES); /* none was lost, none was made */
    gate_destroy(&bustle.gate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits_comes_in_when_another_leaves),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_a_deadline_ends_patience),
        cmocka_unit_test(test_so_many_may_wait),
        cmocka_unit_test(test_two_loops),
    };
    return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
