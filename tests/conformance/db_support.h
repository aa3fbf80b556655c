/*
 * What the tests of the database port share: a private folder that goes away with
 * the test program however it ends, a private PostgreSQL in it, a loop to run tasks
 * on, and a small schema for both databases.
 */
#ifndef TESTS_DB_SUPPORT_H
#define TESTS_DB_SUPPORT_H

#include "db/db.h"
#include "db/migrate.h"

#include <stddef.h>

#define TEST_SERVICE "test_service"

/* One table: item(id, label, amount, bytes, uuid, truth, parent). */
extern const struct migration test_migrations[];

/* Made at the first call. */
const char *test_folder(void);
const char *test_subfolder(const char *name); /* not created */

/* Starts it at the first call and again after a kill; its address, the same each time. */
const char *test_postgres_start(void);
const char *test_postgres_url(void);                                 /* without starting it */
void test_postgres(const char *verb);                                /* kill, pause, resume */
void test_postgres_query(const char *sql, char *value, size_t size); /* as superuser: the first value, or "" */

/* A migrated database, on SQLite or PostgreSQL. */
struct db *test_db_open(bool postgres, size_t connections, size_t max_waiting, int64_t timeout_ms);

/* Runs fn(argument) as a task of a loop of its own, until it returns. */
void test_run(void (*fn)(void *), void *argument);

/* From a task: starts `count` tasks each(shared, number) and waits until all have ended. */
void test_crowd(size_t count, void (*each)(void *shared, size_t number), void *shared);

/* From a task. */
int64_t test_count_items(struct db *from);
bool test_has_item(struct db *from, int64_t id);
void test_empty_items(struct db *from);

/* A unit: inserts the item whose id is *(int64_t *)argument. */
bool insert_item(struct tx *tx, void *id);
extern const struct statement INSERT_ITEM; /* $1 id, $2 label, $3 amount */

/*
 * A suite that runs over both databases: its tests are tasks and find the database
 * in `db`, without items.
 */
enum { CONNECTIONS = 4, MAX_WAITING = 2000, STATEMENT_TIMEOUT_MS = 1500 };
extern struct db *db;
extern bool on_postgres;

enum db_outcome write_unit(db_unit *unit, void *argument);

#define TASK_TEST(name)                                                                                                \
    static void name##_task(void *unused);                                                                             \
    static void name(void **state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        test_run(name##_task, NULL);                                                                                   \
    }                                                                                                                  \
    static void name##_task(__attribute__((unused)) void *unused)

int empty_db(void **state);
#define TEST(name) cmocka_unit_test_setup(name, empty_db)

struct CMUnitTest;
int run_over_both(const char *name, const struct CMUnitTest *tests, size_t count);
int run_over_one(const char *name, bool postgres, const struct CMUnitTest *tests, size_t count);

#endif
