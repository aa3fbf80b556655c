#include "base/processors.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>

/* So that the test's own thread goes on as it was. */
static void in_another_thread(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run, argument), 0);
    pthread_join(thread, NULL);
}

static size_t processor_of_number(size_t number)
{
    cpu_set_t mine;
    assert_int_equal(sched_getaffinity(0, sizeof(mine), &mine), 0);
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &mine) && number-- == 0)
            return i;
    fail_msg("there is no such processor");
    return 0;
}

static void *count(void *counted)
{
    *(size_t *)counted = processors_count();
    return NULL;
}

static void *keep_to(void *argument)
{
    size_t number = *(size_t *)argument, processor = processor_of_number(number), inherited = 0;
    assert_true(processors_keep_to(number));
    assert_int_equal(processors_count(), 1);
    assert_int_equal(processor_of_number(0), processor);
    assert_int_equal(sched_getcpu(), processor);
    in_another_thread(count, &inherited);
    assert_int_equal(inherited, 1);
    return NULL;
}

static void test_keeps_to_one_processor(void **state)
{
    (void)state;
    size_t all = processors_count();
    for (size_t number = 0; number < all; number++)
        in_another_thread(keep_to, &number);
    assert_int_equal(processors_count(), all);
}

static void test_there_is_no_further_processor(void **state)
{
    (void)state;
    size_t all = processors_count();
    assert_false(processors_keep_to(all));
    assert_int_equal(processors_count(), all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeps_to_one_processor),
        cmocka_unit_test(test_there_is_no_further_processor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
