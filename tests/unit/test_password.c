/* Passwords: hashed and checked on the offload pool; those that do not exist cost the same. */
#include "services/auth/password.h"

#include "base/clock.h"
#include "command_task.h"
#include "test.h"

#include <time.h>

static const struct str PASSWORD = STR_INIT("correct horse battery");

struct scene {
    struct offload *offload;
    void (*body)(struct offload *offload);
};

static void run_body(void *argument)
{
    const struct scene *scene = argument;
    assert_true(offload_enter(scene->offload));
    scene->body(scene->offload);
    offload_leave(scene->offload);
}

static void in_task(void (*body)(struct offload *offload))
{
    struct scene scene = {.offload = offload_create(1, 8, 1000), .body = body};
    assert_non_null(scene.offload);
    assert_true(command_run_task(run_body, &scene));
    offload_destroy(scene.offload);
}

static void check_hashes(struct offload *offload)
{
    char first[PASSWORD_HASH_SIZE], second[PASSWORD_HASH_SIZE];
    assert_int_equal(password_hash(offload, PASSWORD, first), PASSWORD_RIGHT);
    assert_int_equal(password_hash(offload, PASSWORD, second), PASSWORD_RIGHT);
    assert_true(str_starts(str_from(first), STR("$2b$10$")));
    assert_int_equal(strlen(first), 60);
    assert_string_not_equal(first, second); /* each has a salt of its own */
    assert_int_equal(password_check(offload, PASSWORD, first), PASSWORD_RIGHT);
    assert_int_equal(password_check(offload, PASSWORD, second), PASSWORD_RIGHT);
    assert_int_equal(password_check(offload, STR("correct horse batterY"), first), PASSWORD_WRONG);
    assert_int_equal(password_check(offload, STR(""), first), PASSWORD_WRONG);
}

static void test_hashes(void **state)
{
    (void)state;
    in_task(check_hashes);
}

static void check_lengths(struct offload *offload)
{
    char hash[PASSWORD_HASH_SIZE], text[PASSWORD_MAX + 1];
    memset(text, 'a', sizeof(text));
    struct str longest = str_make(text, PASSWORD_MAX), shorter = str_make(text, PASSWORD_MAX - 1);
    assert_int_equal(password_hash(offload, longest, hash), PASSWORD_RIGHT);
    assert_int_equal(password_check(offload, longest, hash), PASSWORD_RIGHT);
    assert_int_equal(password_check(offload, shorter, hash), PASSWORD_WRONG);
    assert_false(password_hash_now(str_make(text, PASSWORD_MAX + 1), hash)); /* what bcrypt would cut off unseen */
}

static void test_lengths(void **state)
{
    (void)state;
    in_task(check_lengths);
}

/* Of this process, all its threads: it does not count while others have the machine. */
static int64_t processor_ns(void)
{
    struct timespec time;
    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time), 0);
    return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static int64_t time_of(struct offload *offload, const char *hash)
{
    int64_t began = processor_ns();
    assert_int_equal(password_check(offload, PASSWORD, hash), PASSWORD_WRONG);
    return processor_ns() - began;
}

static void check_nobody(struct offload *offload)
{
    char hash[PASSWORD_HASH_SIZE];
    assert_int_equal(password_hash(offload, STR("another password"), hash), PASSWORD_RIGHT);
    int64_t known = time_of(offload, hash), nobody = time_of(offload, "");
    assert_true(nobody > known / 4 && nobody < known * 4); /* none at all takes a thousandth */
}

static void test_nobody_costs_the_same(void **state)
{
    (void)state;
    in_task(check_nobody);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_nobody_costs_the_same),
    };
    return cmocka_run_group_tests_name("password", tests, NULL, NULL);
}
