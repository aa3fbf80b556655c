#include "db_support.h"

#include "base/log.h"
#include "task/task.h"
#include "test.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define COLUMNS(integer, bytes, uuid)                                                                                  \
    "CREATE TABLE item (id " integer " PRIMARY KEY, label TEXT, amount " integer " NOT NULL DEFAULT 0,"                \
    " bytes " bytes ", uuid " uuid ", truth BOOLEAN, parent " integer " REFERENCES item (id) DEFERRABLE,"              \
    " CONSTRAINT item_amount_not_negative CHECK (amount >= 0));"                                                       \
    "CREATE UNIQUE INDEX item_label_is_taken ON item (label, amount) WHERE label IS NOT NULL;"

const struct migration test_migrations[] = {
    {TEST_SERVICE, "postgres", 1, "001_item", STR_INIT(COLUMNS("BIGINT", "BYTEA", "UUID"))},
    {TEST_SERVICE, "sqlite", 1, "001_item", STR_INIT(COLUMNS("INTEGER", "BLOB", "BLOB"))},
    {0},
};

const struct statement INSERT_ITEM = {.sql = "INSERT INTO item (id, label, amount) VALUES ($1, $2, $3)"};

static char folder[PATH_MAX];

/* A process that lives until ours is gone, whatever ends it, then clears up. */
static void guard_folder(void)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    if (fork() == 0) {
        setsid();
        dup2(ends[0], STDIN_FILENO);
        close(ends[1]);
        execl("/bin/sh", "sh", "-c",
              "read -r nothing; [ ! -d \"$2/postgres\" ] || \"$1\" kill \"$2/postgres\"; rm -rf \"$2\"", "sh",
              PRIVATE_SERVER, folder, NULL);
        _exit(1);
    }
    close(ends[0]); /* the other end stays open as long as we live */
}

const char *test_folder(void)
{
    if (!folder[0]) {
        const char *parent = getenv("TMPDIR");
        snprintf(folder, sizeof(folder), "%s/tickettock-db.XXXXXX", parent ? parent : "/tmp");
        assert_non_null(mkdtemp(folder));
        guard_folder();
    }
    return folder;
}

const char *test_subfolder(const char *name)
{
    static char path[PATH_MAX + 64];
    snprintf(path, sizeof(path), "%s/%s", test_folder(), name);
    return path;
}

static void private_server(const char *arguments, char *output, size_t size)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof(command), "'%s' %s '%s/postgres'", PRIVATE_SERVER, arguments, test_folder());
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    if (!fgets(output, (int)size, pipe))
        output[0] = '\0';
    output[strcspn(output, "\n")] = '\0';
    assert_int_equal(pclose(pipe), 0);
}

static char postgres_url[256];

const char *test_postgres_start(void)
{
    private_server("postgres start", postgres_url, sizeof(postgres_url));
    return postgres_url;
}

const char *test_postgres_url(void)
{
    return postgres_url;
}

void test_postgres(const char *verb)
{
    char output[256];
    private_server(verb, output, sizeof(output));
}

void test_postgres_query(const char *sql, char *value, size_t size)
{
    PGconn *handle = PQconnectdb(test_postgres_start());
    PGresult *result = PQexec(handle, sql);
    if (PQresultStatus(result) == PGRES_FATAL_ERROR)
        fail_msg("%s: %s", sql, PQresultErrorMessage(result));
    snprintf(value, size, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(handle);
}

struct db *test_db_open(bool postgres, size_t connections, size_t max_waiting, int64_t timeout_ms)
{
    static const char *const services[] = {TEST_SERVICE, NULL};
    struct db_settings settings = {.service = TEST_SERVICE,
                                   .connections = connections,
                                   .max_waiting = max_waiting,
                                   .statement_timeout_ms = timeout_ms};
    if (postgres) {
        settings.url = test_postgres_start();
        assert_int_equal(migrate_postgres(test_migrations, services, settings.url, NULL), MIGRATE_OK);
    } else {
        settings.directory = test_subfolder("sqlite");
        assert_int_equal(migrate_sqlite(test_migrations, TEST_SERVICE, settings.directory), MIGRATE_OK);
    }
    struct db *opened = db_open(&settings);
    assert_non_null(opened);
    return opened;
}

struct first {
    void (*fn)(void *);
    void *argument;
    struct loop_message message;
};

static void run_first(void *argument)
{
    struct first *first = argument;
    first->fn(first->argument);
    loop_stop(loop_current());
}

static void start_first(struct loop_message *message)
{
    assert_true(task_start(run_first, (char *)message - offsetof(struct first, message)));
}

void test_run(void (*fn)(void *), void *argument)
{
    struct loop *loop = loop_create(4096);
    assert_non_null(loop);
    struct first first = {.fn = fn, .argument = argument, .message.deliver = start_first};
    loop_post(loop, &first.message);
    loop_run(loop);
    loop_destroy(loop);
}

struct crowd {
    void (*each)(void *shared, size_t number);
    void *shared;
    size_t started, left;
    struct wakeup ended;
};

static void run_member(void *argument)
{
    struct crowd *crowd = argument;
    crowd->each(crowd->shared, crowd->started++);
    if (--crowd->left == 0)
        wakeup_now(&crowd->ended);
}

void test_crowd(size_t count, void (*each)(void *shared, size_t number), void *shared)
{
    struct crowd crowd = {.each = each, .shared = shared, .left = count};
    wakeup_prepare(&crowd.ended);
    for (size_t i = 0; i < count; i++)
        assert_true(task_start(run_member, &crowd));
    wakeup_wait_done(&crowd.ended);
}

static bool count_items(struct tx *tx, void *count)
{
    static const struct statement count_all = {.sql = "SELECT count(*) AS n FROM item"};
    struct rows *rows = tx_query(tx, &count_all, DB_NO_PARAMS);
    while (rows_next(rows))
        *(int64_t *)count = row_int(rows, "n");
    return !tx_failed(tx);
}

int64_t test_count_items(struct db *from)
{
    int64_t count = -1;
    assert_int_equal(db_read(from, count_items, &count), DB_OK);
    return count;
}

struct lookup {
    int64_t id;
    bool found;
};

static bool find_item(struct tx *tx, void *argument)
{
    static const struct statement find = {.sql = "SELECT id FROM item WHERE id = $1"};
    struct lookup *lookup = argument;
    lookup->found = rows_next(tx_query(tx, &find, DB_PARAMS(DB_INT(lookup->id))));
    return !tx_failed(tx);
}

bool test_has_item(struct db *from, int64_t id)
{
    struct lookup lookup = {.id = id};
    assert_int_equal(db_read(from, find_item, &lookup), DB_OK);
    return lookup.found;
}

static bool empty_items(struct tx *tx, void *argument)
{
    (void)argument;
    static const struct statement empty = {.sql = "DELETE FROM item"};
    return tx_exec(tx, &empty, DB_NO_PARAMS);
}

void test_empty_items(struct db *from)
{
    assert_int_equal(db_write(from, empty_items, NULL, NULL), DB_OK);
}

bool insert_item(struct tx *tx, void *id)
{
    return tx_exec(tx, &INSERT_ITEM, DB_PARAMS(DB_INT(*(int64_t *)id), DB_NULL, DB_INT(0)));
}

struct db *db;
bool on_postgres;

enum db_outcome write_unit(db_unit *unit, void *argument)
{
    return db_write(db, unit, argument, NULL);
}

static void empty_task(void *unused)
{
    (void)unused;
    test_empty_items(db);
}

int empty_db(void **state)
{
    (void)state;
    test_run(empty_task, NULL);
    return 0;
}

static int open_db(void **state)
{
    (void)state;
    db = test_db_open(on_postgres, CONNECTIONS, MAX_WAITING, STATEMENT_TIMEOUT_MS);
    return 0;
}

static int close_db(void **state)
{
    (void)state;
    db_close(db);
    return 0;
}

int run_over_one(const char *name, bool postgres, const struct CMUnitTest *tests, size_t count)
{
    char title[64];
    snprintf(title, sizeof(title), "%s over %s", name, postgres ? "PostgreSQL" : "SQLite");
    on_postgres = postgres;
    return _cmocka_run_group_tests(title, tests, count, open_db, close_db);
}

int run_over_both(const char *name, const struct CMUnitTest *tests, size_t count)
{
    return run_over_one(name, false, tests, count) + run_over_one(name, true, tests, count);
}
