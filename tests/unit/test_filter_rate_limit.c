/* How often one may come: by category and by caller, sliding; and what holds while nobody can be asked. */
#include "base/clock.h"
#include "filter_scene.h"
#include "gateway/rate_fallback.h"

#include <stdio.h>

static struct filter_scene scene;

static int set_up(void **state)
{
    (void)state;
    scene_open(&scene);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scene_close(&scene);
    return 0;
}

/* How many of `attempts` requests pass. */
static int count_admitted(enum route_rate rate, struct identity identity, const char *address, int attempts)
{
    int admitted = 0;
    scene.route = (struct route){.rate = rate};
    for (int i = 0; i < attempts; i++) {
        scene_request(&scene, HTTP_POST, "/", "");
        scene.rq.identity = identity;
        scene.rq.client_address = str_from(address);
        admitted += filter_rate_limit(scene.gateway, &scene.rq);
    }
    return admitted;
}

static const struct identity nobody;
static const struct identity alice = {.role = ROLE_USER, .user_id = STR_INIT("alice")};
static const struct identity bob = {.role = ROLE_USER, .user_id = STR_INIT("bob")};
static const struct identity so_called = {.by_header = true, .user_id = STR_INIT("anyone")};

static void test_limit(void **state)
{
    (void)state;
    assert_int_equal(count_admitted(RATE_BOOKING, alice, "1.1.1.1", 40), 30);
    assert_int_equal(count_admitted(RATE_BOOKING, alice, "2.2.2.2", 1), 0); /* the user, wherever */
    assert_int_equal(count_admitted(RATE_BOOKING, bob, "1.1.1.1", 1), 1);
    assert_int_equal(count_admitted(RATE_AUTH, alice, "1.1.1.1", 70), 60); /* another category */
    assert_int_equal(count_admitted(RATE_QUEUE, alice, "1.1.1.1", 130), 120);
    assert_int_equal(count_admitted(RATE_GENERAL, alice, "1.1.1.1", 3010), 3000);
    assert_int_equal(count_admitted(RATE_FCFS, alice, "1.1.1.1", 100), 100);
    assert_int_equal(count_admitted(RATE_EXEMPT, alice, "1.1.1.1", 100), 100);
}

/* A token of one's own is no way around the limit of an address, nor are many addresses a way around the user's. */
static void test_both(void **state)
{
    (void)state;
    char name[16];
    int admitted = 0;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof(name), "user-%d", i);
        struct identity somebody = {.role = ROLE_USER, .user_id = str_from(name)};
        admitted += count_admitted(RATE_AUTH, somebody, "4.4.4.4", 1);
    }
    assert_int_equal(admitted, 60);
    assert_int_equal(count_admitted(RATE_AUTH, nobody, "4.4.4.4", 1), 0);
    assert_int_equal(count_admitted(RATE_AUTH, bob, "4.4.4.5", 59) + count_admitted(RATE_AUTH, bob, "4.4.4.6", 59), 60);
}

static void test_guests(void **state)
{
    (void)state;
    const struct identity guest = {.guest = STR_INIT("guest:x")};
    scene.settings.rate_limit_guests = 5;
    assert_int_equal(count_admitted(RATE_GUESTS, nobody, "6.6.6.6", 9), 5);
    assert_int_equal(count_admitted(RATE_GUESTS, alice, "6.6.6.6", 1), 0);   /* by address, whoever asks */
    assert_int_equal(count_admitted(RATE_GUESTS, guest, "6.6.6.6", 50), 50); /* is no new one */
    assert_int_equal(count_admitted(RATE_GUESTS, nobody, "6.6.6.7", 1), 1);
}

static void test_answer(void **state)
{
    (void)state;
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "9.9.9.1", 30), 30);
    clock_move(50 * MS_PER_S);
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "9.9.9.1", 1), 0);
    assert_int_equal(scene.rq.reply.status, 429);
    struct str body = buf_str(&scene.rq.reply.body), headers = buf_str(&scene.rq.reply.headers);
    assert_true(str_contains(body, STR("\"reason\":\"rate_limited\"")));
    assert_true(str_contains(body, STR("\"retryAfter\":10")));
    assert_true(str_contains(headers, STR("Retry-After: 10\r\n")));
    clock_move(10 * MS_PER_S); /* as it said */
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "9.9.9.1", 1), 1);
}

static void test_addresses(void **state)
{
    (void)state;
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "1.1.1.1", 40), 30);
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "1.1.1.2", 1), 1);
    assert_int_equal(count_admitted(RATE_BOOKING, so_called, "1.1.1.1", 1), 0); /* a name is not a proof */
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "2001:db8:1:2::5", 30), 30);
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "2001:db8:1:2:ffff::6", 1), 0); /* one network */
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "2001:db8:1:3::5", 1), 1);
}

/* Shared state that fails for a reason of its own: a table that is full. */
static void test_fails_open(void **state)
{
    (void)state;
    struct coord *whole = scene.gateway->parts.coord;
    scene.gateway->parts.coord = coord_open(&(struct coord_settings){.max_entries = 0});
    assert_int_equal(count_admitted(RATE_BOOKING, nobody, "3.3.3.3", 100), 60); /* twice the rate */
    assert_int_equal(scene.rq.reply.status, 429);
    assert_true(str_contains(buf_str(&scene.rq.reply.headers), STR("Retry-After: ")));
    coord_close(scene.gateway->parts.coord);
    scene.gateway->parts.coord = whole;
}

static void test_fallback_slides(void **state)
{
    (void)state;
    struct rate_fallback *fallback = rate_fallback_create();
    int admitted = 0;
    for (int i = 0; i < 20; i++)
        admitted += rate_fallback_admits(fallback, STR("a"), 10, 60000);
    assert_int_equal(admitted, 10);
    assert_true(rate_fallback_admits(fallback, STR("b"), 10, 60000));
    clock_move(90 * MS_PER_S); /* half of the last window still counts */
    for (int i = 0, more = 0; i < 20; i++, admitted = more)
        more += rate_fallback_admits(fallback, STR("a"), 10, 60000);
    assert_in_range(admitted, 5, 6);
    clock_move(600 * MS_PER_S);
    assert_true(rate_fallback_admits(fallback, STR("a"), 1, 60000));
    rate_fallback_destroy(fallback);
}

/* The memory is fixed: somebody is forgotten, and those who come now are limited all the same. */
static void test_fallback_is_bounded(void **state)
{
    (void)state;
    struct rate_fallback *fallback = rate_fallback_create();
    for (int i = 0; i < 200000; i++) {
        char name[16];
        int length = snprintf(name, sizeof(name), "%d", i);
        assert_true(rate_fallback_admits(fallback, str_make(name, (size_t)length), 1, 60000));
    }
    assert_false(rate_fallback_admits(fallback, STR("199999"), 1, 60000));
    rate_fallback_destroy(fallback);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_both),
        cmocka_unit_test(test_guests),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_fails_open),
        cmocka_unit_test(test_fallback_slides),
        cmocka_unit_test(test_fallback_is_bounded),
    };
    return cmocka_run_group_tests_name("filter: rate limit", tests, set_up, tear_down);
}
