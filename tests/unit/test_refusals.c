/* Refused attempts: which of them get a line of history, and what becomes of lines that find no room. */
#include "base/cidr.h"
#include "services/ticket/history.h"
#include "services/ticket/history_sample.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NOW = 1000000; /* ms */

static struct history_sample *sample_create(void)
{
    struct history_sample *sample = calloc(1, sizeof(*sample));
    assert_non_null(sample);
    history_sample_init(sample);
    return sample;
}

static struct str network_of(int number, char out[CIDR_NETWORK_TEXT])
{
    int length = snprintf(out, CIDR_NETWORK_TEXT, "10.%d.%d.%d", number >> 16 & 255, number >> 8 & 255, number & 255);
    return str_make(out, (size_t)length);
}

static int taken_by(struct history_sample *sample, int64_t house, const char *network, int attempts, int64_t now)
{
    int taken = 0;
    for (int i = 0; i < attempts; i++)
        taken += history_sample_take(sample, house, str_from(network), now);
    return taken;
}

/* Each from an address of its own. */
static int taken_by_crowd(struct history_sample *sample, int64_t house, int people, int64_t now)
{
    int taken = 0;
    char network[CIDR_NETWORK_TEXT];
    for (int i = 0; i < people; i++)
        taken += history_sample_take(sample, house, network_of(i, network), now);
    return taken;
}

static void test_address_has_its_first_lines_then_few(void **state)
{
    (void)state;
    struct history_sample *sample = sample_create();
    assert_int_equal(taken_by(sample, 1, "198.51.100.7", 5000, NOW), SAMPLE_ADDRESS_BURST);
    int in_a_minute = 0;
    for (int64_t second = 1; second <= 60; second++)
        in_a_minute += taken_by(sample, 1, "198.51.100.7", 100, NOW + second * 1000);
    assert_int_equal(in_a_minute, 60 * 1000 / SAMPLE_ADDRESS_EVERY_MS);
    free(sample);
}

static void test_address_in_another_house_begins_anew(void **state)
{
    (void)state;
    struct history_sample *sample = sample_create();
    assert_int_equal(taken_by(sample, 1, "198.51.100.7", 100, NOW), SAMPLE_ADDRESS_BURST);
    assert_int_equal(taken_by(sample, 2, "198.51.100.7", 100, NOW), SAMPLE_ADDRESS_BURST);
    assert_int_equal(taken_by(sample, 1, "198.51.100.8", 100, NOW), SAMPLE_ADDRESS_BURST);
    free(sample);
}

static void test_house_has_a_bound_for_all_addresses(void **state)
{
    (void)state;
    struct history_sample *sample = sample_create();
    assert_int_equal(taken_by_crowd(sample, 1, 5000, NOW), SAMPLE_HOUSE_BURST);
    assert_int_equal(taken_by_crowd(sample, 1, 5000, NOW + 10 * SAMPLE_HOUSE_EVERY_MS), 10);
    assert_int_equal(taken_by_crowd(sample, 2, 5000, NOW), SAMPLE_HOUSE_BURST); /* another's is its own */
    free(sample);
}

static void test_all_houses_have_a_bound(void **state)
{
    (void)state;
    struct history_sample *sample = sample_create();
    int taken = 0;
    for (int64_t house = 1; house <= 40; house++)
        taken += taken_by_crowd(sample, house, 600, NOW);
    assert_int_equal(taken, SAMPLE_ALL_BURST);
    free(sample);
}

/* Nobody writes here: lines collect until there is no room, and the rest is counted. */
static void test_lines_without_room_are_counted(void **state)
{
    (void)state;
    enum { LINES = 8000, USER = 4096, HOUSES = 16, ROOM = 16 * 1024 * 1024 };
    struct history *history = history_create(NULL);
    assert_non_null(history);
    char user[USER], network[CIDR_NETWORK_TEXT];
    memset(user, 'u', sizeof(user));
    for (int i = 0; i < LINES; i++)
        history_note(history, &(struct refusal){.house = i % HOUSES + 1,
                                                .user = str_make(user, sizeof(user)),
                                                .network = network_of(i, network),
                                                .outcome = "sold_out"});
    assert_int_equal(history_left_out(history), 0);
    uint64_t dropped = history_dropped(history), kept = LINES - dropped;
    assert_true(dropped > 0);
    assert_true(kept * USER <= ROOM && (kept + 1) * (USER + 128) > ROOM / 2);
    assert_true(history_pending(history));
    history_destroy(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address_has_its_first_lines_then_few),
        cmocka_unit_test(test_address_in_another_house_begins_anew),
        cmocka_unit_test(test_house_has_a_bound_for_all_addresses),
        cmocka_unit_test(test_all_houses_have_a_bound),
        cmocka_unit_test(test_lines_without_room_are_counted),
    };
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
