/* What only the PostgreSQL adapter promises: conflicts, roles, and a server that stops, dies or comes back. */
#include "base/clock.h"
#include "base/log.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOON_MS = 1200 }; /* a second, and some room for a machine that is busy */

/* Long enough for what happens to a unit in the middle of a statement, also on a machine that stands still at times. */
#define A_WHILE "pg_sleep(1.2)"

/* Reads and writes as a careless unit would, at a level where the server notices. */
static bool raise_carelessly(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement serializable = {.postgres = "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"};
    static const struct statement read = {.sql = "SELECT amount FROM item WHERE id = 1"};
    static const struct statement write = {.sql = "UPDATE item SET amount = $1 WHERE id = 1"};
    tx_exec(tx, &serializable, DB_NO_PARAMS);
    struct rows *rows = tx_query(tx, &read, DB_NO_PARAMS);
    int64_t amount = rows_next(rows) ? row_int(rows, "amount") : 0;
    return tx_exec(tx, &write, DB_PARAMS(DB_INT(amount + 1)));
}

static bool read_amount(struct tx *tx, void *amount)
{
    static const struct statement read = {.sql = "SELECT amount FROM item WHERE id = 1"};
    struct rows *rows = tx_query(tx, &read, DB_NO_PARAMS);
    *(int64_t *)amount = rows_next(rows) ? row_int(rows, "amount") : -1;
    return true;
}

static void raise_and_count(void *shared, size_t number)
{
    (void)number;
    enum db_outcome outcome = write_unit(raise_carelessly, NULL);
    assert_true(outcome == DB_OK || outcome == DB_BUSY);
    *(int64_t *)shared += outcome == DB_OK;
}

TASK_TEST(conflicts_run_again_and_nothing_is_counted_twice)
{
    int64_t id = 1, done = 0, amount = -1;
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
    test_crowd(100, raise_and_count, &done);
    assert_int_equal(db_read(db, read_amount, &amount), DB_OK);
    assert_int_equal(amount, done);
    assert_true(done > 75); /* without running again, far more would fail */
}

static bool select_star(struct tx *tx, void *wants_extra)
{
    static const struct statement all = {.sql = "SELECT * FROM item WHERE id = 1"};
    struct rows *rows = tx_query(tx, &all, DB_NO_PARAMS);
    if (rows_next(rows) && *(bool *)wants_extra)
        assert_true(row_null(rows, "extra"));
    return !tx_failed(tx);
}

static void select_star_everywhere(bool wants_extra)
{
    for (int i = 0; i < 4 * CONNECTIONS; i++)
        assert_int_equal(db_read(db, select_star, &wants_extra), DB_OK);
}

TASK_TEST(a_changed_table_does_not_disturb_prepared_statements)
{
    char nothing[8];
    int64_t id = 1;
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
    select_star_everywhere(false);
    test_postgres_query("ALTER TABLE " TEST_SERVICE ".item ADD COLUMN extra integer", nothing, sizeof(nothing));
    select_star_everywhere(true);
    test_postgres_query("ALTER TABLE " TEST_SERVICE ".item DROP COLUMN extra", nothing, sizeof(nothing));
    select_star_everywhere(false);
}

static bool read_synchronous_commit(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement show = {.postgres = "SHOW synchronous_commit"};
    struct rows *rows = tx_query(tx, &show, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    assert_str_equal(row_text(rows, "synchronous_commit"), STR("on"));
    return true;
}

TASK_TEST(commits_are_synchronous_whatever_the_server_says)
{
    char nothing[8];
    test_postgres_query("ALTER DATABASE postgres SET synchronous_commit = off", nothing, sizeof(nothing));
    struct db *mine = db;
    db = test_db_open(true, 1, 10, STATEMENT_TIMEOUT_MS);
    assert_int_equal(write_unit(read_synchronous_commit, NULL), DB_OK);
    db_close(db);
    db = mine;
    test_postgres_query("ALTER DATABASE postgres RESET synchronous_commit", nothing, sizeof(nothing));
}

static bool read_foreign(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement steal = {.postgres = "SELECT * FROM other_service.item"};
    return tx_exec(tx, &steal, DB_NO_PARAMS);
}

static bool create_table(struct tx *tx, void *sql)
{
    struct statement create = {.postgres = sql};
    return tx_exec(tx, &create, DB_NO_PARAMS);
}

TASK_TEST(a_service_reaches_its_own_schema_only)
{
    static const struct migration other[] = {{"other_service", "postgres", 1, "001_item",
                                              STR_INIT("CREATE TABLE item (id BIGINT)")},
                                             {0}};
    static const char *const services[] = {"other_service", NULL};
    assert_int_equal(migrate_postgres(other, services, test_postgres_start(), NULL), MIGRATE_OK);
    assert_int_equal(write_unit(read_foreign, NULL), DB_ERROR);
    assert_int_equal(write_unit(create_table, "CREATE TABLE other_service.mine (id BIGINT)"), DB_ERROR);
    assert_int_equal(write_unit(create_table, "CREATE TABLE public.mine (id BIGINT)"), DB_ERROR);
    assert_int_equal(write_unit(create_table, "CREATE TABLE mine (id BIGINT)"), DB_OK);
    assert_int_equal(write_unit(create_table, "DROP TABLE mine"), DB_OK);
}

static bool insert_after_a_while(struct tx *tx, void *id)
{
    static const struct statement wait = {.postgres = "SELECT " A_WHILE};
    tx_exec(tx, &wait, DB_NO_PARAMS);
    return insert_item(tx, id);
}

/* Tells all to end, then waits until they are gone: until then a connection may still take a statement. */
static int end_connections(void)
{
    char count[16];
    test_postgres_query(
        "WITH told AS MATERIALIZED (SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
        "  WHERE application_name = 'tickettock'),"
        " all_told AS MATERIALIZED (SELECT pid FROM told ORDER BY pid)"
        " SELECT count(pid) FROM (SELECT pid, pg_terminate_backend(pid, 5000) FROM all_told OFFSET 0) gone",
        count, sizeof(count));
    return atoi(count);
}

static bool insert_last_after_a_while(struct tx *tx, void *id)
{
    static const struct statement insert = {.postgres =
                                                "INSERT INTO item (id, amount) VALUES ($1, length(" A_WHILE "::text))"};
    return tx_exec_last(tx, &insert, DB_PARAMS(DB_INT(*(int64_t *)id)));
}

static void wait_for_the_statement(void)
{
    char count[16];
    do {
        task_sleep(10);
        test_postgres_query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tickettock'"
                            "  AND state = 'active' AND query LIKE '%pg_sleep%'",
                            count, sizeof(count));
    } while (atoi(count) == 0);
}

static void end_connections_in_the_middle(void *unused)
{
    (void)unused;
    wait_for_the_statement();
    assert_int_equal(end_connections(), CONNECTIONS);
}

TASK_TEST(a_lost_connection_fails_its_unit_and_is_replaced)
{
    int64_t first = 1;
    assert_true(task_start(end_connections_in_the_middle, NULL));
    assert_int_equal(write_unit(insert_after_a_while, &first), DB_UNAVAILABLE);
    for (int64_t id = 1; id <= CONNECTIONS; id++) /* found dead before use, so nobody notices */
        assert_int_equal(write_unit(insert_item, &id), DB_OK);
    assert_int_equal(test_count_items(db), CONNECTIONS);
}

/* Its statement was interrupted, so the COMMIT behind it was not run. */
TASK_TEST(a_connection_lost_during_the_last_statement_has_not_committed)
{
    int64_t id = 1;
    assert_true(task_start(end_connections_in_the_middle, NULL));
    assert_int_equal(write_unit(insert_last_after_a_while, &id), DB_UNAVAILABLE);
    assert_int_equal(test_count_items(db), 0);
}

static bool leave_something_to_clear_away(struct tx *tx, void *process)
{
    static const struct statement create = {.postgres = "CREATE TEMPORARY TABLE farewell ()"};
    static const struct statement ask = {.postgres = "SELECT pg_backend_pid()::bigint AS process"};
    tx_exec(tx, &create, DB_NO_PARAMS);
    struct rows *rows = tx_query(tx, &ask, DB_NO_PARAMS);
    *(int64_t *)process = rows_next(rows) ? row_int(rows, "process") : 0;
    return !tx_failed(tx);
}

/* Ends the connection that made the table, and keeps it from clearing that away until the returned one ends: it has
 * said goodbye, and is still there. */
static PGconn *delay_the_end(int64_t process)
{
    char sql[512];
    snprintf(sql, sizeof(sql),
             "BEGIN; DO $$ DECLARE place text; BEGIN"
             " SELECT relnamespace::regnamespace INTO place FROM pg_class WHERE relname = 'farewell';"
             " EXECUTE 'LOCK TABLE ' || place || '.farewell'; END $$;"
             " SELECT pg_terminate_backend(%d)",
             (int)process);
    PGconn *delaying = PQconnectdb(test_postgres_url());
    PGresult *result = PQexec(delaying, sql);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    return delaying;
}

static void wait_for_the_goodbye(void)
{
    char count[16];
    do {
        task_sleep(10);
        test_postgres_query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tickettock'"
                            "  AND wait_event_type = 'Lock'",
                            count, sizeof(count));
    } while (atoi(count) == 0);
}

TASK_TEST(a_connection_whose_server_has_said_goodbye_is_not_used)
{
    struct db *mine = db;
    int64_t id = 1, process;
    db = test_db_open(true, 1, 10, STATEMENT_TIMEOUT_MS);
    assert_int_equal(write_unit(leave_something_to_clear_away, &process), DB_OK);
    PGconn *delaying = delay_the_end(process);
    wait_for_the_goodbye();
    assert_int_equal(write_unit(insert_item, &id), DB_OK);
    PQfinish(delaying);
    db_close(db);
    db = mine;
}

struct outage {
    size_t failed, uncertain;
    int64_t slowest_ms;
};

static void write_in_outage(void *shared, size_t number)
{
    struct outage *outage = shared;
    int64_t id = (int64_t)number + 1000, before = clock_mono_ns();
    enum db_outcome outcome = write_unit(insert_item, &id);
    int64_t took = (clock_mono_ns() - before) / NS_PER_MS;
    if (took > outage->slowest_ms)
        outage->slowest_ms = took;
    outage->failed += outcome == DB_UNAVAILABLE;
    outage->uncertain += outcome == DB_UNCERTAIN;
}

static void expect_outage(void)
{
    for (int round = 0; round < 3; round++) {
        struct outage outage = {0};
        test_crowd(50, write_in_outage, &outage);
        assert_int_equal(outage.failed + outage.uncertain, 50);
        print_message("           slowest answer while it is down: %d ms\n", (int)outage.slowest_ms);
        assert_true(outage.slowest_ms < SOON_MS);
        assert_non_null(db_trouble(db));
    }
}

static void wait_until_available(void)
{
    int64_t until = clock_mono_ns() + 10 * NS_PER_S;
    while (db_trouble(db) && clock_mono_ns() < until)
        task_sleep(20);
    assert_null(db_trouble(db));
}

static void expect_recovery(void)
{
    wait_until_available();
    test_empty_items(db);
    struct outage outage = {0};
    test_crowd(50, write_in_outage, &outage);
    assert_int_equal(outage.failed + outage.uncertain, 0);
    assert_int_equal(test_count_items(db), 50);
}

TASK_TEST(a_stopped_server_fails_units_within_a_second_and_they_work_again_after_it)
{
    test_postgres("pause");
    expect_outage();
    test_postgres("resume");
    expect_recovery();
}

TASK_TEST(a_dead_server_fails_units_within_a_second_and_they_work_again_after_it)
{
    test_postgres("kill");
    expect_outage();
    test_postgres_start();
    expect_recovery();
}

static void stop_in_the_middle(void *stopped_ns)
{
    wait_for_the_statement();
    *(int64_t *)stopped_ns = clock_mono_ns();
    test_postgres("pause");
}

TASK_TEST(a_server_that_stops_in_the_middle_of_a_unit_is_given_up)
{
    int64_t id = 1, stopped_ns;
    assert_true(task_start(stop_in_the_middle, &stopped_ns));
    assert_int_equal(write_unit(insert_after_a_while, &id), DB_UNAVAILABLE);
    assert_true(clock_mono_ns() - stopped_ns < SOON_MS * (int64_t)NS_PER_MS);
    test_postgres("resume");
    expect_recovery();
}

/* It has the COMMIT already, and carries it out when it goes on; unless the statement's time was over meanwhile, so
 * that is long here. */
TASK_TEST(a_server_that_stops_in_the_last_statement_may_have_committed)
{
    struct db *mine = db;
    int64_t id = 1, stopped_ns;
    db = test_db_open(true, 1, 10, 60 * 1000);
    assert_true(task_start(stop_in_the_middle, &stopped_ns));
    assert_int_equal(write_unit(insert_last_after_a_while, &id), DB_UNCERTAIN);
    test_postgres("resume");
    wait_until_available();
    int64_t until = clock_mono_ns() + 10 * NS_PER_S;
    while (!test_has_item(db, 1) && clock_mono_ns() < until)
        task_sleep(20);
    assert_true(test_has_item(db, 1));
    db_close(db);
    db = mine;
    expect_recovery();
}

static void open_while_down(void *argument)
{
    db = argument;
    int64_t id = 1;
    assert_int_equal(write_unit(insert_item, &id), DB_UNAVAILABLE);
    assert_non_null(db_trouble(db));
    test_postgres_start();
    expect_recovery();
}

static void a_database_may_be_opened_before_its_server_is_up(void **state)
{
    (void)state;
    struct db *up = db;
    test_postgres("kill");
    struct db_settings settings = {.service = TEST_SERVICE,
                                   .url = NULL,
                                   .connections = 2,
                                   .max_waiting = 100,
                                   .statement_timeout_ms = STATEMENT_TIMEOUT_MS};
    char url[256];
    snprintf(url, sizeof(url), "%s", test_postgres_url());
    settings.url = url;
    struct db *down = db_open(&settings);
    assert_non_null(down);
    test_run(open_while_down, down);
    db_close(down);
    db = up;
}

TASK_TEST(an_address_that_makes_no_sense_is_refused)
{
    struct db_settings settings = {.service = TEST_SERVICE,
                                   .url = "postgresql://host/name?nonsense=1",
                                   .connections = 1,
                                   .max_waiting = 1,
                                   .statement_timeout_ms = 100};
    assert_null(db_open(&settings));
    settings.service = "drop table; --";
    assert_null(db_open(&settings));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(conflicts_run_again_and_nothing_is_counted_twice),
        TEST(a_changed_table_does_not_disturb_prepared_statements),
        TEST(commits_are_synchronous_whatever_the_server_says),
        TEST(a_service_reaches_its_own_schema_only),
        TEST(a_lost_connection_fails_its_unit_and_is_replaced),
        TEST(a_connection_lost_during_the_last_statement_has_not_committed),
        TEST(a_connection_whose_server_has_said_goodbye_is_not_used),
        TEST(a_stopped_server_fails_units_within_a_second_and_they_work_again_after_it),
        TEST(a_dead_server_fails_units_within_a_second_and_they_work_again_after_it),
        TEST(a_server_that_stops_in_the_middle_of_a_unit_is_given_up),
        TEST(a_server_that_stops_in_the_last_statement_may_have_committed),
        TEST(a_database_may_be_opened_before_its_server_is_up),
        TEST(an_address_that_makes_no_sense_is_refused),
    };
    return run_over_one("db", true, tests, sizeof(tests) / sizeof(tests[0]));
}
