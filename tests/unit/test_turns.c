#include "base/turns.h"
#include "test.h"

#include <pthread.h>
#include <sys/resource.h>

struct seen {
    bool set, shortened;
    int niceness_set, niceness_shortened;
};

/* Another thread, so that the test's own goes on as it was; it carries back what it saw. */
static void *set_and_ask(void *argument)
{
    struct seen *seen = argument;
    seen->set = turns_set(200000, 7);
    seen->niceness_set = getpriority(PRIO_PROCESS, 0);
    seen->shortened = turns_shorten(100000);
    seen->niceness_shortened = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

static void test_shorter_turns_keep_the_niceness(void **state)
{
    (void)state;
    pthread_t thread;
    struct seen seen = {0};
    int before = getpriority(PRIO_PROCESS, 0);
    assert_int_equal(pthread_create(&thread, NULL, set_and_ask, &seen), 0);
    pthread_join(thread, NULL);
    assert_true(seen.set);
    assert_int_equal(seen.niceness_set, 7);
    assert_true(seen.shortened);
    assert_int_equal(seen.niceness_shortened, 7);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shorter_turns_keep_the_niceness)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
