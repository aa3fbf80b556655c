#include "base/processors.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>

enum { NO_PROCESSOR = CPU_SETSIZE };

static size_t processor_of_number(size_t number)
{
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0)
        return NO_PROCESSOR;
    for (size_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &mine) && number-- == 0)
            return i;
    return NO_PROCESSOR;
}

/* What a thread sees that keeps to a processor; it carries it back, since only the test's own thread may assert. */
struct seen {
    size_t number, processor;
    bool kept;
    size_t count, first, running_on, inherited_count;
};

static void *count(void *counted)
{
    *(size_t *)counted = processors_count();
    return NULL;
}

static void *keep_to(void *argument)
{
    struct seen *seen = argument;
    pthread_t child;
    seen->processor = processor_of_number(seen->number);
    seen->kept = processors_keep_to(seen->number);
    seen->count = processors_count();
    seen->first = processor_of_number(0);
    seen->running_on = (size_t)sched_getcpu();
    if (pthread_create(&child, NULL, count, &seen->inherited_count) == 0)
        pthread_join(child, NULL);
    return NULL;
}

static void test_keeps_to_one_processor(void **state)
{
    (void)state;
    size_t all = processors_count();
    for (size_t number = 0; number < all; number++) {
        pthread_t thread; /* so that the test's own goes on as it was */
        struct seen seen = {.number = number};
        assert_int_equal(pthread_create(&thread, NULL, keep_to, &seen), 0);
        pthread_join(thread, NULL);
        assert_int_not_equal(seen.processor, NO_PROCESSOR);
        assert_true(seen.kept);
        assert_int_equal(seen.count, 1);
        assert_int_equal(seen.first, seen.processor);
        assert_int_equal(seen.running_on, seen.processor);
        assert_int_equal(seen.inherited_count, 1);
    }
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
