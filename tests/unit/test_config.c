#include "base/log.h"
#include "tables/config.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena arena;
static struct buf problems = BUF_INIT(1 << 16);
static struct settings settings;

#define NONE ((char *[]){NULL})

/* Both lists end in NULL. */
static bool load(char *const *flags, char *const *environment)
{
    int count = 0;
    while (flags[count])
        count++;
    arena_reset(&arena);
    buf_clear(&problems);
    settings = (struct settings){0};
    struct config_input input = {.argument_count = count, .arguments = flags, .environment = environment};
    return settings_load(&input, &settings, NULL, &arena, &problems);
}

#define FLAGS(...) ((char *[]){__VA_ARGS__, NULL})
#define ENVIRONMENT(...) ((char *[]){__VA_ARGS__, NULL})

#define assert_problems(text) assert_string_equal(buf_c_string(&problems), (text))

/* Loads with these lines as the file; its path is in `path` for the messages. */
static char path[256];

static bool load_file(struct str content, char *const *more_flags, char *const *environment)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/test_config.XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, content.ptr, content.len), content.len);
    close(file);
    char *flags[8] = {"--config", path};
    for (size_t i = 2; *more_flags && i < 7; i++)
        flags[i] = *more_flags++;
    bool loaded = load(flags, environment);
    unlink(path);
    return loaded;
}

static void test_defaults(void **state)
{
    (void)state;
    assert_true(load(NONE, NONE));
    assert_int_equal(settings.app_port, 5800);
    assert_string_equal(settings.bind_address.ptr, "127.0.0.1");
    assert_null(settings.database_url.ptr);
    assert_int_equal(settings.log_level, LOG_INFO);
    assert_int_equal(settings.log_format, LOG_AUTO);
    assert_int_equal(settings.fcfs_dup_policy, DUP_BOTH);
}

static void test_flags_beat_environment_beats_file_beats_default(void **state)
{
    (void)state;
    assert_true(load_file(STR("# settings\r\n\n  APP_PORT = 1001 \nFCFS_SEATS=1002\nTHREADS=3\nRUST_LOG=warn\n"),
                          FLAGS("--app-port=3001"), ENVIRONMENT("FCFS_SEATS=2002", "APP_PORT=2001")));
    assert_int_equal(settings.app_port, 3001);
    assert_int_equal(settings.fcfs_seats, 2002);
    assert_int_equal(settings.threads, 3);
    assert_int_equal(settings.log_level, LOG_WARN);
    assert_int_equal(settings.fcfs_user_ttl, 900);
}

static void test_ways_to_write_a_flag(void **state)
{
    (void)state;
    assert_true(load(FLAGS("--app-port", "1", "--log-format=JSON", "--data-dir", "--odd"), NONE));
    assert_int_equal(settings.app_port, 1);
    assert_int_equal(settings.log_format, LOG_JSON);
    assert_string_equal(settings.data_dir.ptr, "--odd");
}

/* Where 1 and 0 are among the choices, the words for them are as good. */
static void test_choice_of_words(void **state)
{
    (void)state;
    assert_true(load(NONE, NONE));
    assert_int_equal(settings.fcfs_trust_user_header, TRUST_USER_HEADER_AUTO);
    assert_true(load(NONE, ENVIRONMENT("FCFS_TRUST_USER_HEADER=true")));
    assert_int_equal(settings.fcfs_trust_user_header, TRUST_USER_HEADER_ALWAYS);
    assert_true(load(NONE, ENVIRONMENT("FCFS_TRUST_USER_HEADER=off")));
    assert_int_equal(settings.fcfs_trust_user_header, TRUST_USER_HEADER_NEVER);
    assert_false(load(NONE, ENVIRONMENT("FCFS_TRUST_USER_HEADER=2")));
    assert_problems("FCFS_TRUST_USER_HEADER must be one of auto|1|0, not '2'.\n");
    assert_false(load(NONE, ENVIRONMENT("FCFS_DUP_POLICY=true")));
}

static void test_alias(void **state)
{
    (void)state;
    assert_true(load(NONE, ENVIRONMENT("RUST_LOG=debug")));
    assert_int_equal(settings.log_level, LOG_DEBUG);
    assert_true(load(NONE, ENVIRONMENT("RUST_LOG=debug", "LOG_LEVEL=error")));
    assert_int_equal(settings.log_level, LOG_ERROR);
    assert_true(load(NONE, ENVIRONMENT("LOG_LEVEL=error", "RUST_LOG=debug")));
    assert_int_equal(settings.log_level, LOG_ERROR);
    assert_false(load(NONE, ENVIRONMENT("RUST_LOG=loud")));
    assert_problems("RUST_LOG must be one of debug|info|warn|error|off, not 'loud'.\n");
}

static void test_all_problems_at_once(void **state)
{
    (void)state;
    assert_false(load(FLAGS("--app-prot", "1", "file", "--threads=1", "--threads=2", "--seats"),
                      ENVIRONMENT("APP_PORT=70000", "FCFS_SEAT=9", "FCFS_USER_TTL=-1", "FCFS_DUP_POLICY=all",
                                  "REDIS_DATABASE=x", "PATH=/bin", "TICKETTOCK_X=1")));
    assert_problems("FCFS_SEAT is not a setting; did you mean FCFS_SEATS?\n"
                    "TICKETTOCK_X is not a setting.\n"
                    "There is no flag --app-prot; did you mean --app-port?\n"
                    "file is not expected here.\n"
                    "--threads is given twice.\n"
                    "--seats needs a value.\n"
                    "APP_PORT must be a whole number from 0 to 65535, not '70000'.\n"
                    "REDIS_DATABASE must be a whole number from 0 to 9999, not 'x'.\n"
                    "FCFS_USER_TTL must be a whole number from 0 to 31536000 s, not '-1'.\n"
                    "FCFS_DUP_POLICY must be one of both|user|ip|off, not 'all'.\n");
}

static void test_problems_of_the_file(void **state)
{
    (void)state;
    assert_false(load(FLAGS("--config=/nowhere/x"), NONE));
    assert_problems("The file /nowhere/x cannot be read: No such file or directory.\n");

    assert_false(load_file(STR("APP_PORT\nFCFS_SAETS=1\nTHREADS=1\nTHREADS=2\nADMIN_TOKEN=a=b"), NONE, NONE));
    char expected[1024];
    snprintf(expected, sizeof(expected),
             "%s, line 1: expected NAME=value.\n"
             "%s, line 2: FCFS_SAETS is not a setting; did you mean FCFS_SEATS?\n"
             "%s, line 4: THREADS is set twice.\n",
             path, path, path);
    assert_problems(expected);
    assert_string_equal(settings.admin_token.ptr, "a=b");
}

static void test_empty_variables_and_service_links_are_no_problem(void **state)
{
    (void)state;
    assert_true(load(NONE, ENVIRONMENT("APP_PORT=", "REDIS_URL=", "REDIS_SERVICE_HOST=10.0.0.1",
                                       "REDIS_PORT_6379_TCP=tcp://10.0.0.1:6379", "NOTASSIGNED")));
    assert_int_equal(settings.app_port, 5800);
    assert_null(settings.redis_url.ptr);
    assert_false(load(FLAGS("--app-port="), NONE));
    assert_false(load(FLAGS("--fcfs-user-header="), NONE));
    assert_problems("--fcfs-user-header must be 1 to 64 bytes long, not ''.\n");
}

static void test_secrets_are_not_printed(void **state)
{
    (void)state;
    assert_false(load(NONE, ENVIRONMENT("DATABASE_URL=mysql://root:hunter2@host/db")));
    assert_problems("DATABASE_URL must be a URL beginning with postgresql|postgres://.\n");

    struct config_value *values = ARENA_NEW_ARRAY(&arena, struct config_value, settings_table.count);
    struct config_input input = {.arguments = NONE,
                                 .environment = ENVIRONMENT("ADMIN_TOKEN=hunter2-with-more", "APP_PORT=1")};
    struct settings ignored;
    buf_clear(&problems);
    assert_true(config_load(&settings_table, &input, &ignored, values, &arena, &problems));
    struct buf out = BUF_INIT(1 << 16);
    config_print_values(&settings_table, values, &out);
    assert_false(str_contains(buf_str(&out), STR("hunter2")));
    assert_true(str_contains(buf_str(&out), STR("\n# ADMIN_TOKEN is set\n")));
    assert_true(str_contains(buf_str(&out), STR("\nAPP_PORT=1  (environment)\n")));
    assert_true(str_contains(buf_str(&out), STR("\nTHREADS=0  (default)\n")));
    buf_free(&out);
}

static void test_contradictions(void **state)
{
    (void)state;
    assert_true(load(NONE, ENVIRONMENT("DATABASE_URL=postgresql:///db?host=/run", "REDIS_URL=redis://:x@h:1/2")));
    assert_true(load(NONE, ENVIRONMENT("DATABASE_URL=postgres://h/db", "REDIS_HOST=h", "REDIS_PASSWORD=x")));

    assert_false(load(NONE, ENVIRONMENT("DATABASE_URL=postgres://h/db", "REDIS_HOST=h", "REDIS_URL=redis://h")));
    assert_problems("REDIS_URL and REDIS_HOST are both set; set one or the other.\n");
    assert_false(load(NONE, ENVIRONMENT("REDIS_URL=redis://h")));
    assert_true(str_starts(buf_str(&problems), STR("REDIS_URL is set, but DATABASE_URL is not;")));
    assert_false(load(NONE, ENVIRONMENT("REDIS_PASSWORD=x")));
    assert_problems("REDIS_PASSWORD is set, but REDIS_HOST is not.\n");
    assert_false(load(NONE, ENVIRONMENT("JWT_ACCESS_TTL=61", "JWT_REFRESH_TTL=60")));
    assert_problems("JWT_REFRESH_TTL must not be shorter than JWT_ACCESS_TTL.\n");
    assert_false(load(NONE, ENVIRONMENT("DATABASE_URL=postgres://h/db", "REDIS_URL=redis:/h")));
    assert_false(load(NONE, ENVIRONMENT("DATABASE_URL=postgresql://")));
    assert_false(load(NONE, ENVIRONMENT("DATABASE_URL=postgresql://a b")));
    assert_false(load(NONE, ENVIRONMENT("FCFS_USER_HEADER=X User")));
    assert_false(load(NONE, ENVIRONMENT("ADMIN_TOKEN=fifteen-bytes-x")));
    assert_false(load(NONE, ENVIRONMENT("GATEWAY_TOKEN=fifteen-bytes-x")));
    assert_true(load(NONE, ENVIRONMENT("ADMIN_TOKEN=sixteen-bytes-xx", "GATEWAY_TOKEN=sixteen-bytes-xx")));
    assert_true(load(NONE, ENVIRONMENT("BIND_ADDRESS=::", "TRUSTED_PROXIES=10.0.0.0/8, ::1")));
    assert_false(load(NONE, ENVIRONMENT("BIND_ADDRESS=localhost")));
    assert_false(load(NONE, ENVIRONMENT("TRUSTED_PROXIES=10.0.0.0/33")));
    assert_true(load(NONE, ENVIRONMENT("CORS_ORIGINS=*")));
    assert_true(load(NONE, ENVIRONMENT("CORS_ORIGINS=https://a.example, http://b.example:81")));
    assert_false(load(NONE, ENVIRONMENT("CORS_ORIGINS=https://a.example/,*")));
}

static void assert_lines_within(struct str text, size_t columns)
{
    struct str line;
    while (str_split(&text, '\n', &line))
        if (line.len > columns)
            fail_msg("%zu columns: %.*s", line.len, STR_ARG(line));
}

static void test_documents_have_every_setting(void **state)
{
    (void)state;
    struct buf help = BUF_INIT(1 << 16), markdown = BUF_INIT(1 << 16);
    config_print_help(&settings_table, 80, &help);
    config_print_markdown(&settings_table, &markdown);
    for (size_t i = 0; i < settings_table.count; i++) {
        assert_true(str_contains(buf_str(&help), str_from(settings_table.rows[i].name)));
        assert_true(str_contains(buf_str(&markdown), str_from(settings_table.rows[i].name)));
    }
    assert_lines_within(buf_str(&help), 80);
    assert_true(str_contains(buf_str(&help), STR("\n  APP_PORT, --app-port NUMBER\n      The port to listen on;")));
    assert_true(str_contains(buf_str(&help), STR("RUST_LOG is read when LOG_LEVEL is not set.\n")));
    assert_true(str_contains(buf_str(&markdown), STR("| `LOG_FORMAT` | `auto` | auto\\|text\\|json | Text ")));
    buf_free(&help);
    buf_free(&markdown);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(&arena);
    buf_free(&problems);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_flags_beat_environment_beats_file_beats_default),
        cmocka_unit_test(test_ways_to_write_a_flag),
        cmocka_unit_test(test_choice_of_words),
        cmocka_unit_test(test_alias),
        cmocka_unit_test(test_all_problems_at_once),
        cmocka_unit_test(test_problems_of_the_file),
        cmocka_unit_test(test_empty_variables_and_service_links_are_no_problem),
        cmocka_unit_test(test_secrets_are_not_printed),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_documents_have_every_setting),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
