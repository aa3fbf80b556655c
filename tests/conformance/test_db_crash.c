/*
 * What was acknowledged survives kill -9, of our process or of PostgreSQL. A child
 * writes as fast as it can, alone and in batches, and reports each id that was
 * acknowledged through a pipe; it is killed at a random moment, and everything that
 * came through the pipe must be in the database.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 6, WRITERS = 64, MAX_IDS = 1 << 20 };

struct writing {
    struct db *db;
    struct db_batch *batch;
    int64_t next_id;
    int report;       /* where acknowledged ids go */
    int64_t until_ns; /* 0: for ever */
    size_t acknowledged;
    bool postgres;
};

static bool insert_batch(struct tx *tx, void *items[], size_t count, void *context)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        insert_item(tx, items[i]);
    return !tx_failed(tx);
}

static void write_for_long(void *shared, size_t number)
{
    struct writing *writing = shared;
    while (!writing->until_ns || clock_mono_ns() < writing->until_ns) {
        int64_t id = writing->next_id++;
        enum db_outcome outcome =
            number % 2 ? db_write(writing->db, insert_item, &id, NULL) : db_batch_write(writing->batch, &id);
        if (outcome == DB_OK) {
            assert_int_equal(write(writing->report, &id, sizeof(id)), sizeof(id));
            writing->acknowledged++;
        } else {
            task_sleep(5); /* the server is down: not all at once again */
        }
    }
}

static void write_all(void *argument)
{
    struct writing *writing = argument;
    writing->batch = db_batch_create(writing->db, insert_batch, NULL, NULL, 256);
    test_crowd(WRITERS, write_for_long, writing);
    db_batch_destroy(writing->batch);
}

static void be_the_child(bool postgres, int64_t first_id, int report)
{
    struct writing writing = {.db = test_db_open(postgres, CONNECTIONS, MAX_WAITING, STATEMENT_TIMEOUT_MS),
                              .next_id = first_id,
                              .report = report};
    test_run(write_all, &writing);
    _exit(0);
}

static unsigned char *present;

static bool load_present(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement all = {.sql = "SELECT id FROM item"};
    memset(present, 0, MAX_IDS);
    struct rows *rows = tx_query(tx, &all, DB_NO_PARAMS);
    while (rows_next(rows))
        present[row_int(rows, "id") % MAX_IDS] = 1;
    return !tx_failed(tx);
}

static bool check_integrity(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement check = {.sqlite = "PRAGMA integrity_check"};
    struct rows *rows = tx_query(tx, &check, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    assert_str_equal(row_text(rows, "integrity_check"), STR("ok"));
    return true;
}

static void look_task(void *argument)
{
    struct writing *writing = argument;
    assert_int_equal(db_read(writing->db, load_present, NULL), DB_OK);
    if (!writing->postgres)
        assert_int_equal(db_read(writing->db, check_integrity, NULL), DB_OK);
}

/* Reads what was reported until the end of the pipe. */
static size_t check_reported(int pipe)
{
    int64_t id;
    size_t count = 0;
    while (read(pipe, &id, sizeof(id)) == sizeof(id)) {
        if (!present[id % MAX_IDS])
            fail_msg("item %lld was acknowledged and is lost", (long long)id);
        count++;
    }
    return count;
}

static void look(bool postgres)
{
    struct writing looking = {.db = test_db_open(postgres, 1, 10, 5000), .postgres = postgres};
    test_run(look_task, &looking);
    db_close(looking.db);
}

/* The pipe holds what the child wrote even after it is gone; it is large enough for all of it. */
static size_t kill_one_child(bool postgres, int64_t first_id)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        be_the_child(postgres, first_id, ends[1]);
    }
    close(ends[1]);
    int64_t id;
    assert_int_equal(read(ends[0], &id, sizeof(id)), sizeof(id)); /* it writes */
    usleep((useconds_t)(20000 + random_below(200000)));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    look(postgres);
    assert_true(present[id % MAX_IDS]);
    size_t count = check_reported(ends[0]);
    close(ends[0]);
    return count;
}

static void kill_children(bool postgres)
{
    size_t total = 0;
    for (int round = 0; round < ROUNDS; round++)
        total += kill_one_child(postgres, round * 100000);
    print_message("           %zu acknowledged, none lost\n", total);
    assert_true(total > ROUNDS);
}

static void a_killed_server_on_sqlite_loses_nothing(void **state)
{
    (void)state;
    kill_children(false);
}

static void a_killed_server_on_postgres_loses_nothing(void **state)
{
    (void)state;
    kill_children(true);
}

static void kill_postgres_soon(void *unused)
{
    (void)unused;
    task_sleep(100 + (int64_t)random_below(200));
    test_postgres("kill");
    task_sleep(50);
    test_postgres_start();
}

static void write_through_a_crash(void *argument)
{
    struct writing *writing = argument;
    writing->until_ns = clock_mono_ns() + 2500 * (int64_t)NS_PER_MS;
    assert_true(task_start(kill_postgres_soon, NULL));
    write_all(writing);
}

static void killed_postgres_loses_nothing(void **state)
{
    (void)state;
    int ends[2];
    size_t total = 0;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(pipe(ends), 0);
        fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
        struct writing writing = {.db = test_db_open(true, CONNECTIONS, MAX_WAITING, STATEMENT_TIMEOUT_MS),
                                  .next_id = (ROUNDS + round) * 100000,
                                  .report = ends[1]};
        test_run(write_through_a_crash, &writing);
        db_close(writing.db);
        close(ends[1]);
        look(true);
        total += check_reported(ends[0]);
        close(ends[0]);
    }
    print_message("           %zu acknowledged, none lost\n", total);
    assert_true(total > WRITERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_server_on_sqlite_loses_nothing),
        cmocka_unit_test(a_killed_server_on_postgres_loses_nothing),
        cmocka_unit_test(killed_postgres_loses_nothing),
    };
    log_setup(LOG_OFF, LOG_AUTO);
    present = calloc(1, MAX_IDS);
    test_folder(); /* before the children, who use the same */
    int failed = cmocka_run_group_tests_name("db crashes", tests, NULL, NULL);
    free(present);
    return failed;
}
