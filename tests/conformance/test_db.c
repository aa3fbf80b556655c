/* One suite for the database port, over SQLite and PostgreSQL. */
#include "base/clock.h"
#include "base/log.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONNECTIONS = 4, MAX_WAITING = 2000, STATEMENT_TIMEOUT_MS = 1500 };

static struct db *db;
static bool on_postgres;

/* A cmocka test whose body is a task. */
#define TASK_TEST(name)                                                                                                \
    static void name##_task(void *unused);                                                                             \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        test_run(name##_task, NULL);                                                                                   \
    }                                                                                                                  \
    static void name##_task(__attribute__((unused)) void *unused)

static enum db_outcome write_unit(db_unit *unit, void *argument)
{
    return db_write(db, unit, argument, NULL);
}

TASK_TEST(a_unit_is_there_when_its_task_wakes)
{
    int64_t id = 1;
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
    assert_true(test_has_item(db, 1));
}

static bool insert_and_decline(struct tx *tx, void *id)
{
    insert_item(tx, id);
    return false;
}

TASK_TEST(a_unit_that_says_no_leaves_nothing)
{
    int64_t id = 1;
    assert_int_equal(write_unit(insert_and_decline, &id), DB_ROLLED_BACK);
    assert_false(test_has_item(db, 1));
}

static bool insert_two_then_the_first_again(struct tx *tx, void *argument)
{
    (void)argument;
    int64_t first = 1, second = 2;
    insert_item(tx, &first);
    insert_item(tx, &second);
    return insert_item(tx, &first);
}

TASK_TEST(a_unit_that_fails_leaves_nothing)
{
    assert_int_equal(write_unit(insert_two_then_the_first_again, NULL), DB_CONSTRAINT);
    assert_int_equal(test_count_items(db), 0);
}

static bool misspell_then_insert(struct tx *tx, void *id)
{
    static const struct statement misspelt = {.sql = "INSERT INTO itme (id) VALUES ($1)"};
    assert_false(tx_exec(tx, &misspelt, DB_PARAMS(DB_INT(1))));
    assert_true(tx_failed(tx));
    assert_false(insert_item(tx, id));
    assert_false(rows_next(tx_query(tx, &INSERT_ITEM, DB_PARAMS(DB_INT(2), DB_NULL, DB_INT(0)))));
    return true;
}

TASK_TEST(a_failed_statement_sticks)
{
    int64_t id = 1;
    assert_int_equal(write_unit(misspell_then_insert, &id), DB_ERROR);
    assert_int_equal(test_count_items(db), 0);
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
}

TASK_TEST(a_reader_cannot_write)
{
    int64_t id = 1;
    assert_int_equal(db_read(db, insert_item, &id), DB_ERROR);
    assert_int_equal(test_count_items(db), 0);
}

struct item {
    struct db_value id, label, amount, parent;
};

static bool insert_whole_item(struct tx *tx, void *argument)
{
    static const struct statement insert = {.sql =
                                                "INSERT INTO item (id, label, amount, parent) VALUES ($1, $2, $3, $4)"};
    const struct item *item = argument;
    return tx_exec(tx, &insert, (const struct db_value *)item, 4);
}

static void expect_constraint(struct item item, const char *name)
{
    struct db_failure failure;
    assert_int_equal(db_write(db, insert_whole_item, &item, &failure), DB_CONSTRAINT);
    assert_string_equal(failure.constraint, name);
}

TASK_TEST(constraints_come_back_by_name)
{
    struct item good = {DB_INT(1), DB_TEXT(STR("a")), DB_INT(1), DB_NULL};
    assert_int_equal(write_unit(insert_whole_item, &good), DB_OK);
    expect_constraint(good, "item_pkey");
    expect_constraint((struct item){DB_INT(2), DB_TEXT(STR("a")), DB_INT(1), DB_NULL}, "item_label_is_taken");
    expect_constraint((struct item){DB_INT(2), DB_NULL, DB_INT(-1), DB_NULL}, "item_amount_not_negative");
    expect_constraint((struct item){DB_INT(2), DB_NULL, DB_NULL, DB_NULL}, "item_amount_not_null");
    expect_constraint((struct item){DB_INT(2), DB_NULL, DB_INT(0), DB_INT(99)},
                      on_postgres ? "item_parent_fkey" : ""); /* SQLite does not tell */
    assert_int_equal(test_count_items(db), 1);
}

struct values {
    struct db_value label, amount, bytes, uuid, truth;
};

static const struct statement INSERT_VALUES = {
    .sql = "INSERT INTO item (id, label, amount, bytes, uuid, truth) VALUES (1, $1, $2, $3, $4, $5)"};
static const struct statement SELECT_VALUES = {.sql = "SELECT label, amount, bytes, uuid, truth FROM item"};

static bool round_trip(struct tx *tx, void *argument)
{
    const struct values *values = argument;
    if (!tx_exec(tx, &INSERT_VALUES, (const struct db_value *)values, 5))
        return false;
    struct rows *rows = tx_query(tx, &SELECT_VALUES, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    struct str label = row_text(rows, "label"), bytes = row_bytes(rows, "bytes");
    assert_int_equal(row_null(rows, "label"), values->label.type == DB_TYPE_NULL);
    assert_int_equal(!label.ptr, values->label.type == DB_TYPE_NULL);
    assert_int_equal(!bytes.ptr, values->bytes.type == DB_TYPE_NULL);
    if (label.ptr)
        assert_str_equal(label, values->label.text);
    if (bytes.ptr)
        assert_str_equal(bytes, values->bytes.text);
    assert_int_equal(row_int(rows, "amount"), values->amount.number);
    assert_int_equal(row_bool(rows, "truth"), values->truth.truth);
    struct uuid uuid = row_uuid(rows, "uuid");
    assert_memory_equal(&uuid, &values->uuid.uuid, sizeof(uuid));
    assert_false(rows_next(rows));
    return false; /* for the next one */
}

static void expect_round_trip(struct values values)
{
    assert_int_equal(write_unit(round_trip, &values), DB_ROLLED_BACK);
}

TASK_TEST(values_come_back_as_they_went)
{
    char every_byte[256];
    for (int i = 0; i < 256; i++)
        every_byte[i] = (char)i;
    struct str korean = STR("좌석 “A-1” \\ ' \" ,{} 🎫\n\t"), all = str_make(every_byte, sizeof(every_byte));
    struct uuid id = uuid_new();
    expect_round_trip((struct values){DB_TEXT(korean), DB_INT(INT64_MAX), DB_BYTES(all), DB_UUID(id), DB_BOOL(true)});
    expect_round_trip((struct values){DB_TEXT(STR("")), DB_INT(0), DB_BYTES(STR("")), DB_UUID(id), DB_BOOL(false)});
    expect_round_trip((struct values){DB_NULL, DB_INT(1), DB_NULL, DB_NULL, DB_NULL});
}

static bool select_extremes(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement select = {.sql = "SELECT $2 AS low, $1 AS high, $1 AS again"};
    struct rows *rows = tx_query(tx, &select, DB_PARAMS(DB_INT(INT64_MAX), DB_INT(INT64_MIN)));
    assert_true(rows_next(rows));
    assert_int_equal(row_int(rows, "low"), INT64_MIN);
    assert_int_equal(row_int(rows, "high"), INT64_MAX);
    assert_int_equal(row_int(rows, "again"), INT64_MAX);
    return true;
}

TASK_TEST(parameters_go_by_number_and_numbers_reach_64_bits)
{
    assert_int_equal(db_read(db, select_extremes, NULL), DB_OK);
}

static bool insert_label(struct tx *tx, void *label)
{
    return tx_exec(tx, &INSERT_ITEM, DB_PARAMS(DB_INT(1), DB_TEXT(*(struct str *)label), DB_INT(0)));
}

TASK_TEST(texts_must_be_text)
{
    struct str with_nul = STR("a\0b"), broken = STR("\xff\xfe");
    assert_int_equal(write_unit(insert_label, &with_nul), DB_ERROR);
    assert_int_equal(write_unit(insert_label, &broken), DB_ERROR);
}

static bool read_wrongly(struct tx *tx, void *column)
{
    static const struct statement select = {.sql = "SELECT 'words' AS word, 1 AS number"};
    struct rows *rows = tx_query(tx, &select, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    assert_int_equal(row_int(rows, column), 0);
    return true;
}

TASK_TEST(a_missing_or_unfit_column_fails_the_unit)
{
    assert_int_equal(db_read(db, read_wrongly, "word"), DB_ERROR);
    assert_int_equal(db_read(db, read_wrongly, "missing"), DB_ERROR);
}

static bool count_changes(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement raise = {.sql = "UPDATE item SET amount = amount + 1 WHERE id <= $1"};
    static const struct statement keep = {.sql = "INSERT INTO item (id) VALUES ($1) ON CONFLICT (id) DO NOTHING"};
    static const struct statement take = {.sql = "DELETE FROM item WHERE id >= $1 RETURNING id"};
    for (int64_t id = 1; id <= 5; id++)
        insert_item(tx, &id);
    tx_exec(tx, &raise, DB_PARAMS(DB_INT(3)));
    assert_int_equal(tx_changes(tx), 3);
    tx_exec(tx, &keep, DB_PARAMS(DB_INT(3)));
    assert_int_equal(tx_changes(tx), 0);
    int64_t sum = 0;
    struct rows *rows = tx_query(tx, &take, DB_PARAMS(DB_INT(4)));
    while (rows_next(rows))
        sum += row_int(rows, "id");
    assert_int_equal(tx_changes(tx), 2);
    assert_int_equal(sum, 9);
    assert_false(rows_next(rows));
    return !tx_failed(tx);
}

TASK_TEST(changes_are_counted)
{
    assert_int_equal(write_unit(count_changes, NULL), DB_OK);
    assert_int_equal(test_count_items(db), 3);
}

static bool leave_rows_unread(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement insert = {.sql = "INSERT INTO item (id) VALUES (1), (2), (3) RETURNING id"};
    static const struct statement all = {.sql = "SELECT id FROM item ORDER BY id"};
    tx_query(tx, &insert, DB_NO_PARAMS); /* done although nobody reads what it returns */
    assert_true(rows_next(tx_query(tx, &all, DB_NO_PARAMS)));
    struct rows *rows = tx_query(tx, &all, DB_NO_PARAMS); /* the same one again, from its beginning */
    assert_true(rows_next(rows));
    assert_int_equal(row_int(rows, "id"), 1);
    return true;
}

TASK_TEST(rows_may_be_left_unread)
{
    assert_int_equal(write_unit(leave_rows_unread, NULL), DB_OK);
    assert_int_equal(test_count_items(db), 3);
}

/* More statements than a connection remembers, some at the address of others. */
static bool run_many_statements(struct tx *tx, void *argument)
{
    (void)argument;
    struct statement *statements = calloc(600, sizeof(*statements));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 600; i++) {
            int expected = i + 1000 * round;
            statements[i].sql = arena_format(tx_arena(tx), "SELECT %d AS n", expected).ptr;
            struct rows *rows = tx_query(tx, &statements[i], DB_NO_PARAMS);
            assert_true(rows_next(rows));
            assert_int_equal(row_int(rows, "n"), expected);
        }
    free(statements);
    return true;
}

TASK_TEST(there_may_be_more_statements_than_are_remembered)
{
    assert_int_equal(db_read(db, run_many_statements, NULL), DB_OK);
}

static bool use_all_memory(struct tx *tx, void *id)
{
    insert_item(tx, id);
    for (int i = 0; i < 1 << 20; i++)
        arena_alloc(tx_arena(tx), 1 << 20);
    return true;
}

TASK_TEST(a_unit_without_end_to_its_memory_fails_alone)
{
    int64_t id = 1;
    assert_int_equal(write_unit(use_all_memory, &id), DB_ERROR);
    assert_false(test_has_item(db, 1));
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
}

static bool take_too_long(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement slow = {
        .postgres = "INSERT INTO item (id) SELECT 7 FROM pg_sleep(60)",
        .sqlite = "INSERT INTO item (id) WITH RECURSIVE forever (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM forever) "
                  "SELECT max(n) FROM forever"};
    return tx_exec(tx, &slow, DB_NO_PARAMS);
}

static void write_beside_a_slow_one(void *shared, size_t number)
{
    enum db_outcome *outcomes = shared;
    int64_t id = (int64_t)number;
    outcomes[number] = number == 5 ? write_unit(take_too_long, NULL) : write_unit(insert_item, &id);
}

TASK_TEST(a_statement_without_end_is_stopped_and_harms_nobody)
{
    int64_t before = clock_mono_ns();
    enum db_outcome outcomes[10];
    test_crowd(10, write_beside_a_slow_one, outcomes);
    assert_true(clock_mono_ns() - before < 2 * STATEMENT_TIMEOUT_MS * (int64_t)NS_PER_MS);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(outcomes[i], i == 5 ? DB_BUSY : DB_OK);
    assert_int_equal(test_count_items(db), 9);
}

/* Of every four, one inserts, one declines, one breaks a constraint, one has a wrong statement. */
static void write_and_look(void *shared, size_t number)
{
    (void)shared;
    int64_t id = (int64_t)number;
    switch (number % 4) {
    case 0: assert_int_equal(write_unit(insert_item, &id), DB_OK); break;
    case 1: assert_int_equal(write_unit(insert_and_decline, &id), DB_ROLLED_BACK); break;
    case 2: assert_int_equal(write_unit(insert_two_then_the_first_again, &id), DB_CONSTRAINT); break;
    default: assert_int_equal(write_unit(misspell_then_insert, &id), DB_ERROR); break;
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
    bool ordered;
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
    test.batch = db_batch_create(db, insert_items, &test, 256);
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
    test->batches = 1000;
}

TASK_TEST(a_batch_is_durable_as_a_whole_or_not_at_all)
{
    int64_t taken = 1000;
    assert_int_equal(write_unit(insert_item, &taken), DB_OK);
    struct batch_test test = {0};
    test.batch = db_batch_create(db, insert_items, &test, 256);
    struct hold hold;
    hold_writers(&hold); /* so that all of them gather */
    assert_true(task_start(run_bad_batch, &test));
    task_sleep(20);
    release_writers(&hold);
    while (test.batches < 1000)
        task_sleep(1);
    db_batch_destroy(test.batch);
    assert_int_equal(test.largest, 20);
    assert_int_equal(test_count_items(db), 1);
}

TASK_TEST(a_batched_item_leaves_at_its_deadline)
{
    struct batch_test test = {0};
    test.batch = db_batch_create(db, insert_items, &test, 256);
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

TASK_TEST(all_is_well)
{
    assert_null(db_trouble(db));
}

static void empty_task(void *unused)
{
    (void)unused;
    test_empty_items(db);
}

static int empty(void **state)
{
    (void)state;
    test_run(empty_task, NULL);
    return 0;
}

static int open_db(bool postgres)
{
    on_postgres = postgres;
    db = test_db_open(postgres, CONNECTIONS, MAX_WAITING, STATEMENT_TIMEOUT_MS);
    return 0;
}

static int open_sqlite(void **state)
{
    (void)state;
    return open_db(false);
}

static int open_postgres(void **state)
{
    (void)state;
    return open_db(true);
}

static int close_db(void **state)
{
    (void)state;
    db_close(db);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_unit_is_there_when_its_task_wakes, empty),
        cmocka_unit_test_setup(a_unit_that_says_no_leaves_nothing, empty),
        cmocka_unit_test_setup(a_unit_that_fails_leaves_nothing, empty),
        cmocka_unit_test_setup(a_failed_statement_sticks, empty),
        cmocka_unit_test_setup(a_reader_cannot_write, empty),
        cmocka_unit_test_setup(constraints_come_back_by_name, empty),
        cmocka_unit_test_setup(values_come_back_as_they_went, empty),
        cmocka_unit_test_setup(parameters_go_by_number_and_numbers_reach_64_bits, empty),
        cmocka_unit_test_setup(texts_must_be_text, empty),
        cmocka_unit_test_setup(a_missing_or_unfit_column_fails_the_unit, empty),
        cmocka_unit_test_setup(changes_are_counted, empty),
        cmocka_unit_test_setup(rows_may_be_left_unread, empty),
        cmocka_unit_test_setup(there_may_be_more_statements_than_are_remembered, empty),
        cmocka_unit_test_setup(a_unit_without_end_to_its_memory_fails_alone, empty),
        cmocka_unit_test_setup(a_statement_without_end_is_stopped_and_harms_nobody, empty),
        cmocka_unit_test_setup(a_thousand_units_at_once_are_each_whole_or_nothing, empty),
        cmocka_unit_test_setup(a_queued_unit_leaves_at_its_deadline, empty),
        cmocka_unit_test_setup(a_running_unit_is_waited_for_past_the_deadline, empty),
        cmocka_unit_test_setup(a_full_queue_answers_at_once, empty),
        cmocka_unit_test_setup(items_travel_in_batches_in_their_order, empty),
        cmocka_unit_test_setup(a_batch_is_durable_as_a_whole_or_not_at_all, empty),
        cmocka_unit_test_setup(a_batched_item_leaves_at_its_deadline, empty),
        cmocka_unit_test_setup(all_is_well, empty),
    };
    log_setup(LOG_INFO, LOG_AUTO);
    return cmocka_run_group_tests_name("db over SQLite", tests, open_sqlite, close_db) +
           cmocka_run_group_tests_name("db over PostgreSQL", tests, open_postgres, close_db);
}
