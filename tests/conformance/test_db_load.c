/* Many units at once, full queues, deadlines and batches, over SQLite and PostgreSQL. */
#include "base/clock.h"
#include "base/log.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <semaphore.h>
#include <unistd.h>

static bool insert_and_decline(struct tx *tx, void *id)
{
    insert_item(tx, id);
    return false;
}

static bool insert_twice(struct tx *tx, void *id)
{
    insert_item(tx, id);
    return insert_item(tx, id);
}

static bool insert_and_misspell(struct tx *tx, void *id)
{
    static const struct statement misspelt = {.sql = "INSERT INTO itme (id) VALUES ($1)"};
    insert_item(tx, id);
    return tx_exec(tx, &misspelt, DB_PARAMS(DB_INT(1)));
}

/* Of every four, one inserts, one declines, one breaks a constraint, one has a wrong statement. */
static void write_and_look(void *shared, size_t number)
{
    (void)shared;
    int64_t id = (int64_t)number;
    switch (number % 4) {
    case 0: assert_int_equal(write_unit(insert_item, &id), DB_OK); break;
    case 1: assert_int_equal(write_unit(insert_and_decline, &id), DB_ROLLED_BACK); break;
    case 2: assert_int_equal(write_unit(insert_twice, &id), DB_CONSTRAINT); break;
    default: assert_int_equal(write_unit(insert_and_misspell, &id), DB_ERROR); break;
    }
    assert_int_equal(test_has_item(db, id), number % 4 == 0);
}

TASK_TEST(a_thousand_units_at_once_are_each_whole_or_nothing)
{
    log_setup(LOG_OFF, LOG_AUTO);
    test_crowd(1000, write_and_look, NULL);
    log_setup(LOG_INFO, LOG_AUTO);
    assert_int_equal(test_count_items(db), 250);
}

/* Holds every thread that writes, until it is let go. */
struct hold {
    sem_t held, release;
    size_t count;
};

static bool hold_thread(struct tx *tx, void *argument)
{
    (void)tx;
    struct hold *hold = argument;
    sem_post(&hold->held);
    sem_wait(&hold->release);
    return false;
}

static void hold_one(void *argument)
{
    (void)write_unit(hold_thread, argument);
    ((struct hold *)argument)->count--;
}

static void hold_writers(struct hold *hold)
{
    sem_init(&hold->held, 0, 0);
    sem_init(&hold->release, 0, 0);
    hold->count = on_postgres ? CONNECTIONS : 1;
    size_t count = hold->count;
    for (size_t i = 0; i < count; i++)
        assert_true(task_start(hold_one, hold));
    for (size_t held = 0; held < count;)
        if (sem_trywait(&hold->held) == 0)
            held++;
        else
            task_sleep(1);
}

static void release_writers(struct hold *hold)
{
    for (size_t i = 0, count = hold->count; i < count; i++)
        sem_post(&hold->release);
    while (hold->count)
        task_sleep(1);
}

TASK_TEST(a_queued_unit_leaves_at_its_deadline)
{
    struct hold hold;
    hold_writers(&hold);
    int64_t id = 1;
    task_set_deadline(clock_mono_ns() + 20 * NS_PER_MS);
    assert_int_equal(write_unit(insert_item, &id), DB_DEADLINE);
    task_set_deadline(0);
    release_writers(&hold);
    assert_false(test_has_item(db, 1));
}

static bool sleep_then_insert(struct tx *tx, void *id)
{
    usleep(50000);
    return insert_item(tx, id);
}

TASK_TEST(a_running_unit_is_waited_for_past_the_deadline)
{
    int64_t id = 1;
    task_set_deadline(clock_mono_ns() + 20 * NS_PER_MS);
    assert_int_equal(write_unit(sleep_then_insert, &id), DB_OK);
    task_set_deadline(0);
    assert_true(test_has_item(db, 1));
}

struct tally {
    size_t outcomes[DB_ERROR + 1];
};

static void write_one_of_many(void *shared, size_t number)
{
    int64_t id = (int64_t)number;
    ((struct tally *)shared)->outcomes[write_unit(insert_item, &id)]++;
}

static void overfill(void *argument)
{
    test_crowd(MAX_WAITING + 100, write_one_of_many, argument);
    *(bool *)((char *)argument + sizeof(struct tally)) = true;
}

TASK_TEST(a_full_queue_answers_at_once)
{
    struct {
        struct tally tally;
        bool ended;
    } many = {0};
    struct hold hold;
    hold_writers(&hold);
    assert_true(task_start(overfill, &many));
    while (many.tally.outcomes[DB_BUSY] < 100)
        task_sleep(1);
    release_writers(&hold);
    while (!many.ended)
        task_sleep(1);
    assert_int_equal(many.tally.outcomes[DB_BUSY], 100);
    assert_int_equal(many.tally.outcomes[DB_OK], MAX_WAITING);
    assert_int_equal(test_count_items(db), MAX_WAITING);
}

/* A batched operation: inserts its items; each gets its place in the batch. */
struct batched {
    int64_t id;
    size_t place, batch;
};

struct batch_test {
    struct db_batch *batch;
    size_t batches, largest;
    int64_t last_id;
    bool ordered, ended;
};

static bool insert_items(struct tx *tx, void *items[], size_t count, void *context)
{
    struct batch_test *test = context;
    test->batches++;
    if (count > test->largest)
        test->largest = count;
    for (size_t i = 0; i < count; i++) {
        struct batched *item = items[i];
        test->ordered &= item->id > test->last_id;
        test->last_id = item->id;
        item->place = i;
        item->batch = test->batches;
        insert_item(tx, &item->id);
    }
    return !tx_failed(tx);
}

static void write_batched(void *shared, size_t number)
{
    struct batch_test *test = shared;
    struct batched item = {.id = (int64_t)number + 1};
    assert_int_equal(db_batch_write(test->batch, &item), DB_OK);
    assert_true(item.batch > 0);
    if (number % 16 == 0)
        assert_true(test_has_item(db, item.id));
}

TASK_TEST(items_travel_in_batches_in_their_order)
{
    struct batch_test test = {.ordered = true};
    test.batch = db_batch_create(db, insert_items, NULL, &test, 256);
    test_crowd(1000, write_batched, &test);
    db_batch_destroy(test.batch);
    assert_true(test.ordered);
    assert_true(test.largest > 1 && test.largest <= 256);
    assert_true(test.batches < 500);
    assert_int_equal(test_count_items(db), 1000);
}

static void write_batched_with_a_bad_one(void *shared, size_t number)
{
    struct batch_test *test = shared;
    struct batched item = {.id = number == 13 ? 1000 : (int64_t)number};
    assert_int_equal(db_batch_write(test->batch, &item), DB_CONSTRAINT);
}

static void run_bad_batch(void *argument)
{
    struct batch_test *test = argument;
    test_crowd(20, write_batched_with_a_bad_one, test);
    test->ended = true;
}

TASK_TEST(a_batch_is_durable_as_a_whole_or_not_at_all)
{
    int64_t taken = 1000;
    assert_int_equal(write_unit(insert_item, &taken), DB_OK);
    struct batch_test test = {0};
    test.batch = db_batch_create(db, insert_items, NULL, &test, 256);
    struct hold hold;
    hold_writers(&hold); /* so that all of them gather */
    assert_true(task_start(run_bad_batch, &test));
    task_sleep(20);
    release_writers(&hold);
    while (!test.ended)
        task_sleep(1);
    db_batch_destroy(test.batch);
    assert_int_equal(test.largest, 20);
    assert_int_equal(test_count_items(db), 1);
}

TASK_TEST(a_batched_item_leaves_at_its_deadline)
{
    struct batch_test test = {0};
    test.batch = db_batch_create(db, insert_items, NULL, &test, 256);
    struct batched item = {.id = 1};
    struct hold hold;
    hold_writers(&hold);
    task_set_deadline(clock_mono_ns() + 20 * NS_PER_MS);
    assert_int_equal(db_batch_write(test.batch, &item), DB_DEADLINE);
    task_set_deadline(0);
    release_writers(&hold);
    assert_int_equal(db_batch_write(test.batch, &item), DB_OK);
    db_batch_destroy(test.batch);
    assert_int_equal(test_count_items(db), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_thousand_units_at_once_are_each_whole_or_nothing),
        TEST(a_queued_unit_leaves_at_its_deadline),
        TEST(a_running_unit_is_waited_for_past_the_deadline),
        TEST(a_full_queue_answers_at_once),
        TEST(items_travel_in_batches_in_their_order),
        TEST(a_batch_is_durable_as_a_whole_or_not_at_all),
        TEST(a_batched_item_leaves_at_its_deadline),
    };
    return run_over_both("db load", tests, sizeof(tests) / sizeof(tests[0]));
}
