/* What only the SQLite adapter promises: one server per folder, arrays, and a disk that fills up. */
#include "base/log.h"
#include "db_support.h"
#include "task/task.h"
#include "test.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

TASK_TEST(a_second_server_is_refused)
{
    struct db_settings settings = {.service = TEST_SERVICE,
                                   .directory = test_subfolder("sqlite"),
                                   .connections = 1,
                                   .max_waiting = 1,
                                   .statement_timeout_ms = 100};
    assert_null(db_open(&settings));
    settings.service = "another_service";
    struct db *other = db_open(&settings);
    assert_non_null(other);
    db_close(other);
}

static bool read_settings(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement synchronous = {.sqlite = "PRAGMA synchronous"};
    static const struct statement journal = {.sqlite = "PRAGMA journal_mode"};
    struct rows *rows = tx_query(tx, &synchronous, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    assert_int_equal(row_int(rows, "synchronous"), 2);
    rows = tx_query(tx, &journal, DB_NO_PARAMS);
    assert_true(rows_next(rows));
    assert_str_equal(row_text(rows, "journal_mode"), STR("wal"));
    return true;
}

TASK_TEST(the_log_is_synced_at_each_commit)
{
    assert_int_equal(write_unit(read_settings, NULL), DB_OK);
}

static bool insert_orphan(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement defer = {.sqlite = "PRAGMA defer_foreign_keys = ON"};
    static const struct statement insert = {.sql = "INSERT INTO item (id, parent) VALUES (7, 99)"};
    return tx_exec(tx, &defer, DB_NO_PARAMS) && tx_exec(tx, &insert, DB_NO_PARAMS);
}

static void write_beside_an_orphan(void *shared, size_t number)
{
    (void)shared;
    int64_t id = (int64_t)number;
    if (number == 7)
        assert_int_equal(write_unit(insert_orphan, NULL), DB_CONSTRAINT);
    else
        assert_int_equal(write_unit(insert_item, &id), DB_OK);
}

static bool ask_unnest(struct tx *tx, void *argument)
{
    static const struct statement ask = {.sqlite = "SELECT c1 FROM unnest($1, $2)"};
    const struct db_value *params = argument;
    rows_next(tx_query(tx, &ask, params, 2));
    return true;
}

TASK_TEST(arrays_of_two_lengths_or_no_arrays_are_refused)
{
    static const int64_t numbers[] = {1, 2, 3};
    static const struct str words[] = {STR_INIT("one"), STR_INIT("two")};
    struct db_value fit[] = {DB_INTS(numbers, 2), DB_TEXTS(words, 2)};
    struct db_value two_lengths[] = {DB_INTS(numbers, 3), DB_TEXTS(words, 2)};
    struct db_value no_array[] = {DB_INTS(numbers, 1), DB_INT(1)};
    assert_int_equal(db_read(db, ask_unnest, fit), DB_OK);
    assert_int_equal(db_read(db, ask_unnest, two_lengths), DB_ERROR);
    assert_int_equal(db_read(db, ask_unnest, no_array), DB_ERROR);
}

TASK_TEST(a_late_reference_fails_its_own_unit_only)
{
    test_crowd(20, write_beside_an_orphan, NULL);
    assert_int_equal(test_count_items(db), 19);
}

/* A limit on the size of files stands for a full disk: the log cannot grow. */
static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int64_t file_size(const char *suffix)
{
    struct stat file;
    char path[1024];
    snprintf(path, sizeof(path), "%s%s", test_subfolder("sqlite/" TEST_SERVICE ".db"), suffix);
    assert_int_equal(stat(path, &file), 0);
    return file.st_size;
}

static void fill_disk(void)
{
    set_file_limit((rlim_t)file_size("-wal") + 100000);
}

static bool insert_much(struct tx *tx, void *id)
{
    static const struct statement insert = {.sql = "INSERT INTO item (id, bytes) VALUES ($1, zeroblob(50000))"};
    return tx_exec(tx, &insert, DB_PARAMS(DB_INT(*(int64_t *)id)));
}

TASK_TEST(a_long_log_is_written_back_when_it_is_quiet)
{
    enum { UNITS = 100, BYTES = 50000 }; /* more than a thousand pages */
    for (int64_t id = 2000; id < 2000 + UNITS; id++)
        assert_int_equal(write_unit(insert_much, &id), DB_OK);
    int64_t log = file_size("-wal");
    for (int tries = 0; file_size("") < UNITS * BYTES && tries < 200; tries++)
        task_sleep(10);
    assert_true(file_size("") >= UNITS * BYTES);
    int64_t id = 3000;
    assert_int_equal(write_unit(insert_much, &id), DB_OK);
    assert_int_equal(file_size("-wal"), log); /* it begins anew */
}

/* "syscw: %ld", calls that write, or "wchar: %ld", bytes that they wrote; of the whole process. */
static long count_io(const char *what)
{
    char line[64];
    long number = -1;
    FILE *counts = fopen("/proc/self/io", "r");
    assert_non_null(counts);
    while (fgets(line, sizeof(line), counts))
        sscanf(line, what, &number);
    fclose(counts);
    assert_true(number >= 0);
    return number;
}

static atomic_long syncs, written_before_sync;

/* Instead of the C library's, for SQLite, too. */
__attribute__((visibility("default"))) int fdatasync(int file)
{
    written_before_sync = count_io("wchar: %ld");
    syncs++;
    return (int)syscall(SYS_fdatasync, file);
}

TASK_TEST(a_commit_is_on_disk_before_it_is_told)
{
    enum { COMMITS = 20, BYTES = 50000 };
    int complete = 0;
    for (int64_t id = 7000; id < 7000 + COMMITS; id++) {
        long synced = syncs, written = count_io("wchar: %ld");
        assert_int_equal(write_unit(insert_much, &id), DB_OK);
        assert_true(syncs > synced);
        complete += written_before_sync - written >= BYTES && count_io("wchar: %ld") - written_before_sync < BYTES;
    }
    assert_true(complete > COMMITS / 2); /* nearly all; the log may be written back meanwhile */
}

TASK_TEST(a_commit_writes_its_log_with_one_call)
{
    enum { COMMITS = 20, OTHERS = 3 }; /* others: the log's beginning, and who wakes whom */
    int few = 0;
    for (int64_t id = 5000; id < 5000 + COMMITS; id++) {
        long before = count_io("syscw: %ld");
        assert_int_equal(write_unit(insert_much, &id), DB_OK); /* 13 pages and more */
        few += count_io("syscw: %ld") - before <= 1 + OTHERS;
    }
    assert_true(few > COMMITS / 2); /* nearly all; the log may be written back meanwhile */
}

/* More than the writer has memory for: SQLite puts its pages into the log, and reads them again before the commit. */
#define VAST_ROWS 300
#define VAST_FIRST 6000
#define VAST_BYTES "CAST(replace(hex(zeroblob(25000)), '00', id % 90 + 10) AS BLOB)"
#define VAST_COUNT "SELECT count(*) AS total FROM item WHERE amount = id AND bytes = " VAST_BYTES

static int64_t count_vast(struct tx *tx, int64_t from, int64_t to)
{
    static const struct statement count = {.sqlite = VAST_COUNT " AND id >= $1 AND id < $2"};
    struct rows *rows = tx_query(tx, &count, DB_PARAMS(DB_INT(from), DB_INT(to)));
    return rows_next(rows) ? row_int(rows, "total") : -1;
}

static bool insert_vast(struct tx *tx, void *unused)
{
    (void)unused;
    static const struct statement insert = {.sql = "INSERT INTO item (id, amount) VALUES ($1, $1)"};
    static const struct statement grow = {.sqlite = "UPDATE item SET bytes = " VAST_BYTES " WHERE id = $1"};
    static const struct statement change = {.sql = "UPDATE item SET truth = TRUE WHERE id >= $1"};
    for (int64_t id = VAST_FIRST; id < VAST_FIRST + VAST_ROWS; id++) {
        if (!tx_exec(tx, &insert, DB_PARAMS(DB_INT(id))) || !tx_exec(tx, &grow, DB_PARAMS(DB_INT(id))))
            return false;
        for (int64_t back = 50; back <= 90 && id - back >= VAST_FIRST; back += 10) /* some have just left the memory */
            assert_int_equal(count_vast(tx, id - back, id - back + 1), 1);
    }
    return tx_exec(tx, &change, DB_PARAMS(DB_INT(VAST_FIRST))); /* pages that are in the log already */
}

static bool check_vast(struct tx *tx, void *unused)
{
    (void)unused;
    assert_int_equal(count_vast(tx, VAST_FIRST, VAST_FIRST + VAST_ROWS), VAST_ROWS);
    return true;
}

static int count_it(void *count, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    *(int64_t *)count = strcmp(values[0], "ok") == 0 ? 1 : atoll(values[0]);
    return 0;
}

/* As after a crash: SQLite then reads the log from its beginning, and believes it as far as its sums are right. */
static int64_t ask_a_copy(const char *sql)
{
    const char *folder = test_subfolder("sqlite");
    char path[1024], command[2048];
    int64_t answer = -1;
    sqlite3 *copy;
    snprintf(path, sizeof(path), "%s/copy.db", folder);
    snprintf(command, sizeof(command),
             "cd '%s' && cp " TEST_SERVICE ".db copy.db && cp " TEST_SERVICE ".db-wal copy.db-wal", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(sqlite3_open(path, &copy), SQLITE_OK);
    assert_int_equal(sqlite3_exec(copy, sql, count_it, &answer, NULL), SQLITE_OK);
    sqlite3_close(copy);
    return answer;
}

TASK_TEST(a_unit_that_outgrows_memory_reads_what_it_wrote)
{
    assert_int_equal(write_unit(insert_vast, NULL), DB_OK);
    assert_int_equal(db_read(db, check_vast, NULL), DB_OK);
    assert_int_equal(ask_a_copy("PRAGMA integrity_check"), 1);
    assert_int_equal(ask_a_copy(VAST_COUNT " AND truth"), VAST_ROWS);
}

struct filling {
    bool acknowledged[200];
    size_t unavailable;
};

static void write_much(void *shared, size_t number)
{
    struct filling *filling = shared;
    int64_t id = (int64_t)number;
    switch (write_unit(insert_much, &id)) {
    case DB_OK: filling->acknowledged[number] = true; break;
    case DB_UNAVAILABLE: filling->unavailable++; break;
    default: fail_msg("neither written nor unavailable");
    }
}

/* More than the full disk takes, even after the log has begun anew. */
static bool insert_too_much(struct tx *tx, void *unused)
{
    (void)unused;
    static const struct statement insert = {.sql = "INSERT INTO item (id, bytes) VALUES (4000, zeroblob(50000000))"};
    return tx_exec(tx, &insert, DB_NO_PARAMS);
}

TASK_TEST(a_full_disk_fails_units_whole_and_they_work_again_after_it)
{
    signal(SIGXFSZ, SIG_IGN);
    log_setup(LOG_OFF, LOG_AUTO);
    struct filling filling = {0};
    fill_disk();
    test_crowd(200, write_much, &filling);
    assert_true(filling.unavailable > 0);
    assert_int_equal(write_unit(insert_too_much, NULL), DB_UNAVAILABLE);
    assert_non_null(db_trouble(db));
    for (int64_t id = 0; id < 200; id++)
        assert_int_equal(test_has_item(db, id), filling.acknowledged[id]);

    set_file_limit(RLIM_INFINITY);
    log_setup(LOG_INFO, LOG_AUTO);
    for (int tries = 0; db_trouble(db) && tries < 200; tries++) /* asking is enough for it to be tried again */
        task_sleep(5);
    assert_null(db_trouble(db));
    int64_t id = 1000;
    assert_int_equal(write_unit(insert_much, &id), DB_OK);
    assert_true(test_has_item(db, id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_second_server_is_refused),
        TEST(the_log_is_synced_at_each_commit),
        TEST(arrays_of_two_lengths_or_no_arrays_are_refused),
        TEST(a_late_reference_fails_its_own_unit_only),
        TEST(a_long_log_is_written_back_when_it_is_quiet),
        TEST(a_full_disk_fails_units_whole_and_they_work_again_after_it), /* later, the log would have room */
        TEST(a_commit_is_on_disk_before_it_is_told),
        TEST(a_commit_writes_its_log_with_one_call),
        TEST(a_unit_that_outgrows_memory_reads_what_it_wrote),
    };
    return run_over_one("db", false, tests, sizeof(tests) / sizeof(tests[0]));
}
