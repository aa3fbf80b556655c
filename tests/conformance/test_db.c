/* What a unit of work promises, over SQLite and PostgreSQL. */
#include "base/clock.h"
#include "base/log.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <stdlib.h>

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

static bool insert_last(struct tx *tx, void *argument)
{
    const int64_t *ids = argument; /* two */
    insert_item(tx, (void *)&ids[0]);
    bool done = tx_exec_last(tx, &INSERT_ITEM, DB_PARAMS(DB_INT(ids[1]), DB_NULL, DB_INT(0)));
    assert_int_equal(tx_changes(tx), done);
    return done;
}

TASK_TEST(a_last_statement_commits_the_unit)
{
    int64_t first[] = {1, 2}, next[] = {3, 4};
    assert_int_equal(write_unit(insert_last, first), DB_OK);
    assert_int_equal(write_unit(insert_last, next), DB_OK);
    assert_int_equal(test_count_items(db), 4);
}

TASK_TEST(a_last_statement_that_fails_leaves_nothing)
{
    int64_t ids[] = {1, 1}, others[] = {1, 2};
    for (int i = 0; i < 8; i++) /* on each of several connections, perhaps */
        assert_int_equal(write_unit(insert_last, ids), DB_CONSTRAINT);
    assert_int_equal(test_count_items(db), 0);
    assert_int_equal(write_unit(insert_last, others), DB_OK);
    assert_int_equal(test_count_items(db), 2);
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

static bool insert_child_last(struct tx *tx, void *parent)
{
    static const struct statement defer = {.sqlite = "PRAGMA defer_foreign_keys = ON",
                                           .postgres = "SET CONSTRAINTS ALL DEFERRED"};
    static const struct statement insert = {.sql = "INSERT INTO item (id, parent) VALUES (2, $1)"};
    tx_exec(tx, &defer, DB_NO_PARAMS);
    return tx_exec_last(tx, &insert, DB_PARAMS(DB_INT(*(int64_t *)parent)));
}

TASK_TEST(what_only_the_commit_can_refuse_is_refused_after_a_last_statement_too)
{
    int64_t nobody = 99, itself = 2;
    assert_int_equal(write_unit(insert_child_last, &nobody), DB_CONSTRAINT);
    assert_int_equal(test_count_items(db), 0);
    assert_int_equal(write_unit(insert_child_last, &itself), DB_OK);
    assert_true(test_has_item(db, 2));
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

static bool select_arrays(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement unnest = {
        .postgres = "SELECT n, word FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS t (n, word, place)"
                    " ORDER BY place",
        .sqlite = "SELECT c1 AS n, c2 AS word FROM unnest($1, $2)",
    };
    static const int64_t numbers[] = {INT64_MIN, -1, 0, INT64_MAX, 5, 6};
    static const struct str words[] = {
        STR_INIT("plain"), STR_INIT(""), {NULL, 0}, STR_INIT("NULL"), STR_INIT("a \"b\" \\ {c,d} '"), STR_INIT("좌석")};
    struct rows *rows = tx_query(tx, &unnest, DB_PARAMS(DB_INTS(numbers, 6), DB_TEXTS(words, 6)));
    for (size_t i = 0; i < 6; i++) {
        assert_true(rows_next(rows));
        assert_int_equal(row_int(rows, "n"), numbers[i]);
        struct str word = row_text(rows, "word");
        assert_int_equal(!word.ptr, !words[i].ptr);
        if (word.ptr && words[i].ptr)
            assert_str_equal(word, words[i]);
    }
    assert_false(rows_next(rows));
    assert_false(rows_next(tx_query(tx, &unnest, DB_PARAMS(DB_INTS(NULL, 0), DB_TEXTS(NULL, 0)))));
    return !tx_failed(tx);
}

TASK_TEST(arrays_arrive_whole)
{
    assert_int_equal(db_read(db, select_arrays, NULL), DB_OK);
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

TASK_TEST(all_is_well)
{
    assert_null(db_trouble(db));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_unit_is_there_when_its_task_wakes),
        TEST(a_unit_that_says_no_leaves_nothing),
        TEST(a_unit_that_fails_leaves_nothing),
        TEST(a_failed_statement_sticks),
        TEST(a_last_statement_commits_the_unit),
        TEST(a_last_statement_that_fails_leaves_nothing),
        TEST(a_reader_cannot_write),
        TEST(constraints_come_back_by_name),
        TEST(what_only_the_commit_can_refuse_is_refused_after_a_last_statement_too),
        TEST(values_come_back_as_they_went),
        TEST(parameters_go_by_number_and_numbers_reach_64_bits),
        TEST(texts_must_be_text),
        TEST(arrays_arrive_whole),
        TEST(a_missing_or_unfit_column_fails_the_unit),
        TEST(changes_are_counted),
        TEST(rows_may_be_left_unread),
        TEST(there_may_be_more_statements_than_are_remembered),
        TEST(a_unit_without_end_to_its_memory_fails_alone),
        TEST(a_statement_without_end_is_stopped_and_harms_nobody),
        TEST(all_is_well),
    };
    return run_over_both("db units", tests, sizeof(tests) / sizeof(tests[0]));
}
