#include "base/turns.h"
#include "test.h"

#include <pthread.h>
#include <sys/resource.h>

/* Another thread, so that the test's own goes on as it was. */
static void *set_and_ask(void *niceness)
{
    assert_true(turns_set(200000, 7));
    assert_int_equal(getpriority(PRIO_PROCESS, 0), 7);
    assert_true(turns_shorten(100000));
    *(int *)niceness = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

static void test_shorter_turns_keep_the_niceness(void **state)
{
    (void)state;
    pthread_t thread;
    int niceness = 0, before = getpriority(PRIO_PROCESS, 0);
    assert_int_equal(pthread_create(&thread, NULL, set_and_ask, &niceness), 0);
    pthread_join(thread, NULL);
    assert_int_equal(niceness, 7);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter_turns_keep_the_niceness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
