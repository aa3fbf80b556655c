/* Waiting for a group: until it is complete, or as many as share a commit well, but never longer than it is worth. */
#include "db/pace.h"

#include "base/clock.h"
#include "test.h"

#include <unistd.h>

enum { JOBS = 100, MOMENT_US = 2000 };
#define LONG_NS (60 * NS_PER_S)

struct scene {
    struct queue waiting;
    struct job jobs[JOBS];
    size_t coming, came;
    bool closes;
};

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    queue_init(&scene->waiting, JOBS);
}

/* One after the other, so that whoever waits could be woken by each. */
static void *come(void *argument)
{
    struct scene *scene = argument;
    for (size_t i = 0; i < scene->coming; i++) {
        usleep(MOMENT_US);
        scene->came += queue_put(&scene->waiting, &scene->jobs[i]);
    }
    if (scene->closes)
        queue_close(&scene->waiting);
    return NULL;
}

static bool wait_while_they_come(struct scene *scene, size_t count, int64_t ns)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, come, scene), 0);
    bool enough = queue_wait(&scene->waiting, count, ns);
    size_t there = queue_length(&scene->waiting);
    pthread_join(thread, NULL);
    assert_int_equal(scene->came, scene->coming);
    assert_true(!enough || there >= count || scene->closes);
    return enough;
}

static void test_waits_for_so_many(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.coming = 5;
    assert_true(wait_while_they_come(&scene, 5, LONG_NS));
    queue_destroy(&scene.waiting);
}

static void test_does_not_wait_for_ever(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.coming = 2;
    assert_false(wait_while_they_come(&scene, 3, 20 * NS_PER_MS));
    assert_int_equal(queue_length(&scene.waiting), 2);
    assert_true(queue_wait(&scene.waiting, 2, 0));
    queue_destroy(&scene.waiting);
}

static void test_a_closed_queue_is_not_waited_for(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    scene.coming = 1;
    scene.closes = true;
    assert_true(wait_while_they_come(&scene, 3, LONG_NS));
    queue_destroy(&scene.waiting);
}

/* After somebody waited for several, the next one alone wakes whoever wants one. */
static void test_then_one_is_enough_again(void **state)
{
    (void)state;
    struct scene scene;
    begin(&scene);
    assert_false(queue_wait(&scene.waiting, 3, 0));
    scene.coming = 1;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, come, &scene), 0);
    assert_ptr_equal(queue_take(&scene.waiting, 1), &scene.jobs[0]);
    pthread_join(thread, NULL);
    assert_int_equal(scene.came, 1);
    queue_destroy(&scene.waiting);
}

static int64_t gathering_takes(struct pace pace, size_t there)
{
    struct scene scene;
    begin(&scene);
    for (size_t i = 0; i < there; i++)
        assert_true(queue_put(&scene.waiting, &scene.jobs[i]));
    int64_t began = clock_mono_ns();
    pace_gather(&pace, &scene.waiting, 0);
    int64_t took = clock_mono_ns() - began;
    queue_destroy(&scene.waiting);
    return took;
}

static int64_t shortest(struct pace pace, size_t there)
{
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < 20; i++) { /* others use this machine, too */
        int64_t took = gathering_takes(pace, there);
        shortest = took < shortest ? took : shortest;
    }
    return shortest;
}

static void test_gathers_for_half_a_commit_at_most(void **state)
{
    (void)state;
    const int64_t commit = NS_PER_MS, half = commit / 2;
    const struct pace ten = {.last_count = 10, .last_took_ns = commit},
                      many = {.last_count = 90, .last_took_ns = commit},
                      quick = {.last_count = 10, .last_took_ns = 90 * 1000},
                      slow = {.last_count = 10, .last_took_ns = LONG_NS};
    assert_true(gathering_takes(ten, 9) >= half); /* one is missing */
    assert_true(shortest(ten, 10) < half);
    assert_true(gathering_takes(many, 63) >= half);
    assert_true(shortest(many, 64) < half);                   /* enough, though there were more last time */
    assert_true(shortest(quick, 9) < quick.last_took_ns / 2); /* not worth it */
    assert_true(gathering_takes(slow, 9) < slow.last_took_ns / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_for_so_many),
        cmocka_unit_test(test_does_not_wait_for_ever),
        cmocka_unit_test(test_a_closed_queue_is_not_waited_for),
        cmocka_unit_test(test_then_one_is_enough_again),
        cmocka_unit_test(test_gathers_for_half_a_commit_at_most),
    };
    return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}
