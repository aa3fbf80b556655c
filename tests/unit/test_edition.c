#include "services/ticket/edition.h"
#include "test.h"

#include <stdlib.h>

enum { SEATS = 2000 };

static struct house *house;
static int64_t version;

static void load(int64_t generation, int64_t seats)
{
    struct house_state before = house_state(house);
    assert_true(house_load(house, &before, &(struct house_picture){generation, ++version, seats, NULL, 0}));
}

static int set_up(void **state)
{
    (void)state;
    house = house_create();
    version = 0;
    load(1, SEATS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    house_destroy(house);
    assert_int_equal(edition_bytes(), 0); /* nothing is left of what was released */
    return 0;
}

static void set_seat(int64_t seat, uint64_t owner)
{
    struct house_seat change = {.seat = seat, .owner = owner};
    assert_true(house_apply(house, 1, ++version, &change, 1));
}

static void assert_shows(const struct edition *edition, const char *seat)
{
    size_t found = 0, length = 0;
    for (size_t i = 0; i < edition->body.count; i++) {
        struct str piece = edition->body.pieces[i];
        found += memmem(piece.ptr, piece.len, seat, strlen(seat)) != NULL;
        length += piece.len;
    }
    assert_int_equal(found, 1);
    assert_int_equal(length, edition->body.length);
}

static size_t shared_pieces(const struct edition *one, const struct edition *other)
{
    size_t count = 0;
    for (size_t i = 0; i < one->body.count; i++)
        count += one->body.pieces[i].ptr == other->body.pieces[i].ptr;
    return count;
}

static void test_only_what_changed_is_made_anew(void **state)
{
    (void)state;
    struct edition *first = edition_make(house, EDITION_PLAIN, NULL);
    assert_int_equal(first->body.count, 4);
    assert_int_equal(first->state.version, 1);
    assert_shows(first, "{\"id\":1,\"name\":\"A-1\",\"status\":false}");
    assert_shows(first, ",{\"id\":2000,\"name\":\"CB-25\",\"status\":false}");

    set_seat(600, 7);
    struct edition *second = edition_make(house, EDITION_PLAIN, first);
    assert_int_equal(second->state.version, 2);
    assert_int_equal(shared_pieces(first, second), 3);
    assert_shows(first, "{\"id\":600,\"name\":\"X-25\",\"status\":false}"); /* it never changes */
    assert_shows(second, "{\"id\":600,\"name\":\"X-25\",\"status\":true}");

    edition_release(first); /* what the second shares stays */
    set_seat(600, 0);
    struct edition *third = edition_make(house, EDITION_PLAIN, second);
    assert_shows(third, "{\"id\":600,\"name\":\"X-25\",\"status\":false}");
    assert_int_equal(shared_pieces(second, third), 3);
    edition_release(second);
    edition_release(third);
}

/* A house of another size has other names in every row. */
static void test_another_size_is_another_list(void **state)
{
    (void)state;
    struct edition *first = edition_make(house, EDITION_GZIP, NULL);
    load(2, SEATS);
    struct edition *same = edition_make(house, EDITION_GZIP, first);
    assert_int_equal(shared_pieces(first, same), 4);
    assert_int_equal(same->state.generation, 2);
    assert_int_equal(same->sum.crc, first->sum.crc);

    for (int64_t seats = 0; seats < 520; seats += 511) {
        load(3, seats);
        struct edition *small = edition_make(house, EDITION_PLAIN, NULL);
        assert_int_equal(small->body.count, seats > 0);
        edition_release(small);
    }
    edition_release(same);
    edition_release(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_what_changed_is_made_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_size_is_another_list, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("edition", tests, NULL, NULL);
}
