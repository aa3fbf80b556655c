/* Migrations, over SQLite and PostgreSQL: once, in order, unchanged, and by several servers at once. */
#include "base/log.h"
#include "db_support.h"
#include "test.h"

#include <libpq-fe.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

#define BOTH(number, name, sql)                                                                                        \
    {"shop_service", "postgres", number, name, STR_INIT(sql)},                                                         \
    {                                                                                                                  \
        "shop_service", "sqlite", number, name, STR_INIT(sql)                                                          \
    }

#define FIRST "CREATE TABLE thing (id BIGINT PRIMARY KEY); INSERT INTO thing VALUES (1); -- one\n"
#define SECOND "ALTER TABLE thing ADD COLUMN label TEXT;"

static const struct migration one[] = {BOTH(1, "001_thing", FIRST), {0}};
static const struct migration two[] = {BOTH(1, "001_thing", FIRST), BOTH(2, "002_label", SECOND), {0}};
static const struct migration changed[] = {BOTH(1, "001_thing", FIRST " "), BOTH(2, "002_label", SECOND), {0}};
static const struct migration broken[] = {BOTH(1, "001_thing", FIRST),
                                          BOTH(2, "002_label", SECOND),
                                          BOTH(3, "003_broken",
                                               "CREATE TABLE half (id BIGINT); CREATE TABLE thing (id BIGINT);"),
                                          {0}};
static const struct migration escaping[] = {BOTH(1, "001_thing", FIRST),
                                            BOTH(2, "002_label", SECOND),
                                            BOTH(3, "003_escaping", "COMMIT; CREATE TABLE outside (id BIGINT);"),
                                            {0}};

static const char *const shop[] = {"shop_service", NULL};

static char folder[PATH_MAX]; /* SQLite's */

static enum migrate_outcome migrate(const struct migration *all)
{
    return on_postgres ? migrate_postgres(all, shop, test_postgres_url(), NULL)
                       : migrate_sqlite(all, "shop_service", folder);
}

struct question {
    const char *sql;
    int64_t answer;
};

static bool ask(struct tx *tx, void *argument)
{
    struct question *question = argument;
    struct statement statement = {.sql = question->sql};
    struct rows *rows = tx_query(tx, &statement, DB_NO_PARAMS);
    question->answer = rows_next(rows) ? row_int(rows, "n") : -1;
    return !tx_failed(tx);
}

static void ask_task(void *question)
{
    if (db_read(db, ask, question) != DB_OK)
        ((struct question *)question)->answer = -2;
}

/* What the query gives as n, or -2 when it cannot be run. */
static int64_t answer_to(const char *sql)
{
    struct question question = {.sql = sql};
    struct db_settings settings = {.service = "shop_service",
                                   .url = on_postgres ? test_postgres_url() : NULL,
                                   .directory = folder,
                                   .connections = 1,
                                   .max_waiting = 1,
                                   .statement_timeout_ms = 1000};
    db = db_open(&settings);
    assert_non_null(db);
    test_run(ask_task, &question);
    db_close(db);
    return question.answer;
}

static void *migrate_in_thread(void *outcome)
{
    *(enum migrate_outcome *)outcome = migrate(one);
    return NULL;
}

static void several_servers_may_migrate_at_once(void **state)
{
    (void)state;
    enum { SERVERS = 6 };
    pthread_t threads[SERVERS];
    enum migrate_outcome outcomes[SERVERS];
    for (int i = 0; i < SERVERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, migrate_in_thread, &outcomes[i]), 0);
    for (int i = 0; i < SERVERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SERVERS; i++)
        assert_int_equal(outcomes[i], MIGRATE_OK);
    assert_int_equal(answer_to("SELECT count(*) AS n FROM thing"), 1);
    assert_int_equal(answer_to("SELECT count(*) AS n FROM schema_migrations"), 1);
}

static void later_migrations_are_added_once(void **state)
{
    (void)state;
    assert_int_equal(migrate(two), MIGRATE_OK);
    assert_int_equal(migrate(two), MIGRATE_OK);
    assert_int_equal(answer_to("SELECT count(label) AS n FROM thing"), 0);
    assert_int_equal(answer_to("SELECT max(number) AS n FROM schema_migrations"), 2);
    assert_int_equal(answer_to("SELECT count(*) AS n FROM schema_migrations WHERE name = '002_label'"
                               " AND length(hash) = 64 AND applied_at > 1700000000000"),
                     1);
}

static void a_changed_or_unknown_migration_is_refused(void **state)
{
    (void)state;
    assert_int_equal(migrate(changed), MIGRATE_CHANGED);
    assert_int_equal(migrate(one), MIGRATE_CHANGED);
}

static void a_broken_migration_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(migrate(broken), MIGRATE_FAILED);
    assert_int_equal(answer_to("SELECT count(*) AS n FROM half"), -2);
    assert_int_equal(answer_to("SELECT max(number) AS n FROM schema_migrations"), 2);
}

static void a_migration_that_ends_its_transaction_fails(void **state)
{
    (void)state;
    assert_int_equal(migrate(escaping), MIGRATE_FAILED);
    assert_int_equal(answer_to("SELECT max(number) AS n FROM schema_migrations"), 2);
}

/* "postgresql://postgres@127.0.0.1:1234/postgres" for another user */
static const char *url_of(const char *user)
{
    static char url[300];
    snprintf(url, sizeof(url), "postgresql://%s@%s", user, strchr(test_postgres_url(), '@') + 1);
    return url;
}

static void the_servers_role_can_check_and_use_but_not_create(void **state)
{
    (void)state;
    char nothing[8];
    static const char *const both[] = {"shop_service", "later_service", NULL};
    assert_int_equal(migrate_postgres_check(two, shop, url_of("nobody")), MIGRATE_UNAVAILABLE);
    assert_int_equal(migrate_postgres(two, shop, test_postgres_url(), "front-server"), MIGRATE_OK);
    assert_int_equal(migrate_postgres_check(two, shop, url_of("front-server")), MIGRATE_OK);
    assert_int_equal(migrate_postgres_check(one, shop, url_of("front-server")), MIGRATE_CHANGED);
    assert_int_equal(migrate_postgres_check(broken, shop, url_of("front-server")), MIGRATE_FORBIDDEN);
    assert_int_equal(migrate_postgres_check(two, both, url_of("front-server")), MIGRATE_FORBIDDEN);
    /* Without rights, but nothing is missing. */
    assert_int_equal(migrate_postgres(two, shop, url_of("front-server"), NULL), MIGRATE_OK);
    assert_int_equal(migrate_postgres(two, both, url_of("front-server"), NULL), MIGRATE_FORBIDDEN);
    test_postgres_query("CREATE ROLE outsider LOGIN", nothing, sizeof(nothing));
    assert_int_equal(migrate_postgres_check(two, shop, url_of("outsider")), MIGRATE_FORBIDDEN);
}

static void the_service_role_cannot_log_in_and_others_cannot_look(void **state)
{
    (void)state;
    PGconn *service = PQconnectdb(url_of("shop_service"));
    assert_int_equal(PQstatus(service), CONNECTION_BAD);
    PQfinish(service);
    PGconn *outsider = PQconnectdb(url_of("outsider"));
    assert_int_equal(PQstatus(outsider), CONNECTION_OK);
    PGresult *result = PQexec(outsider, "SELECT * FROM shop_service.thing");
    assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "42501");
    PQclear(result);
    PQfinish(outsider);
}

static void no_server_is_said_so(void **state)
{
    (void)state;
    assert_int_equal(migrate_postgres(one, shop, "postgresql://127.0.0.1:1/none", NULL), MIGRATE_UNAVAILABLE);
    assert_int_equal(migrate_sqlite(one, "shop_service", "/dev/null/folder"), MIGRATE_UNAVAILABLE);
}

int main(void)
{
#define FOR_BOTH                                                                                                       \
    cmocka_unit_test(several_servers_may_migrate_at_once), cmocka_unit_test(later_migrations_are_added_once),          \
        cmocka_unit_test(a_changed_or_unknown_migration_is_refused),                                                   \
        cmocka_unit_test(a_broken_migration_leaves_nothing),                                                           \
        cmocka_unit_test(a_migration_that_ends_its_transaction_fails)
    const struct CMUnitTest sqlite[] = {FOR_BOTH};
    const struct CMUnitTest postgres[] = {
        FOR_BOTH,
        cmocka_unit_test(the_servers_role_can_check_and_use_but_not_create),
        cmocka_unit_test(the_service_role_cannot_log_in_and_others_cannot_look),
        cmocka_unit_test(no_server_is_said_so),
    };
    snprintf(folder, sizeof(folder), "%s", test_subfolder("shop"));
    on_postgres = false;
    int failed = cmocka_run_group_tests_name("migrations over SQLite", sqlite, NULL, NULL);
    on_postgres = true;
    test_postgres_start();
    return failed + cmocka_run_group_tests_name("migrations over PostgreSQL", postgres, NULL, NULL);
}
