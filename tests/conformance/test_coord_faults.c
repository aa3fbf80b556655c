/* What happens to the redis adapter when Redis is killed, emptied, paused, unreachable or refuses us; and what
 * two servers of a fleet see of each other. */
#include "coord_scene.h"

#include "base/log.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMEOUT_MS = 500, RECOVERY_MS = 10000 };

static struct scene_redis redis, guarded;
static struct scene_adapter adapter = {.shared = true, .settings = {.host = "127.0.0.1", .timeout_ms = TIMEOUT_MS}};

static enum coord_outcome lock_one(struct coord *coord, const char *key, const char *owner)
{
    struct coord_lock_key lock = {str_from(key), 1};
    return scene_lock(coord, &lock, 1, str_from(owner), 60000);
}

static bool says(struct coord *coord, const char *what)
{
    const char *trouble = coord_trouble(coord);
    bool said = trouble && str_contains(str_from(trouble), str_from(what));
    if (!said)
        fprintf(stderr, "trouble is: %s\n", trouble ? trouble : "none");
    return said;
}

static bool says_refused(void *coord)
{
    return says(coord, "refused");
}

static bool works(void *coord)
{
    int64_t value;
    return coord_sequence(coord, STR("{works}"), &value) == COORD_OK && !coord_trouble(coord);
}

/* Every operation, each within a second; at most `slow` of them wait at all. */
static void everything_is_unavailable(struct coord *coord, int slow)
{
    struct arena arena;
    struct str value;
    int64_t number, begin_ns, waited = 0;
    struct coord_lock_key lock = {STR("{down}:k"), 1};
    arena_init(&arena, 65536);
#define UNAVAILABLE(call)                                                                                              \
    do {                                                                                                               \
        begin_ns = clock_mono_ns();                                                                                    \
        CHECK_OUTCOME(call, COORD_UNAVAILABLE);                                                                        \
        CHECK(scene_ms_since(begin_ns) < 1000);                                                                        \
        waited += scene_ms_since(begin_ns) > 100;                                                                      \
    } while (0)
    UNAVAILABLE(scene_lock(coord, &lock, 1, STR("a"), 1000));
    UNAVAILABLE(scene_unlock(coord, &lock, 1, STR("a")));
    UNAVAILABLE(coord_sequence(coord, STR("{down}:n"), &number));
    UNAVAILABLE(coord_sequence_raise(coord, STR("{down}:n"), 7));
    UNAVAILABLE(coord_count(coord, STR("{down}:c"), 1, 1000, &number));
    UNAVAILABLE(coord_rate(coord, STR("{down}:r"), 1, 1000, &number));
    UNAVAILABLE(coord_set(coord, STR("{down}:v"), STR("x"), 1000));
    UNAVAILABLE(coord_get(coord, STR("{down}:v"), &arena, &value, &number));
    UNAVAILABLE(coord_delete(coord, STR("{down}:v")));
    UNAVAILABLE(coord_publish(coord, STR("{down}:p"), STR("x")));
    CHECK(waited <= slow);
    arena_free(&arena);
}

static void survives_a_kill(struct coord *coord, void *arg, size_t n)
{
    int64_t value;
    (void)arg, (void)n;
    CHECK_OUTCOME(coord_sequence_raise(coord, STR("{kill}:n"), 41), COORD_OK);
    CHECK_OUTCOME(coord_sequence(coord, STR("{kill}:n"), &value), COORD_OK);
    CHECK(value == 42);
    const struct coord_lock_key key = {STR("{kill}:k"), 1};
    struct coord_lock lost = {.keys = &key, .count = 1, .owner = STR("a"), .ttl_ms = 60000};
    CHECK_OUTCOME(coord_lock(coord, &lost), COORD_OK);
    task_sleep(300); /* a heartbeat, so that the connection counts as a good one */
    scene_redis_do(&redis, "kill");
    everything_is_unavailable(coord, 1);
    CHECK(scene_until(says_refused, coord, RECOVERY_MS)); /* its last connection may have been reset before */
    scene_redis_do(&redis, "start");                      /* with an empty memory, scripts included */
    CHECK(scene_until(works, coord, RECOVERY_MS));
    CHECK_OUTCOME(lock_one(coord, "{kill}:k", "b"), COORD_OK);
    CHECK_OUTCOME(coord_unlock(coord, &lost), COORD_MISSING); /* it is b's now */
    CHECK_OUTCOME(lock_one(coord, "{kill}:k", "c"), COORD_TAKEN);
    CHECK_OUTCOME(coord_sequence_raise(coord, STR("{kill}:n"), 42), COORD_OK);
    CHECK_OUTCOME(coord_sequence(coord, STR("{kill}:n"), &value), COORD_OK);
    CHECK(value == 43);
}

static void test_killed_and_started_empty(void **state)
{
    (void)state;
    scene_run(&adapter, 1, survives_a_kill, NULL);
}

/* Requests in flight when Redis dies or stops: each ends in time, also when its answer comes late. */
struct burst {
    atomic_int ok, unavailable, other, slow;
};

static void locks_until_it_fails(struct coord *coord, void *arg, size_t n)
{
    struct burst *burst = arg;
    char owner[16];
    int64_t begin_ns = clock_mono_ns(), call_ns;
    enum coord_outcome outcome;
    snprintf(owner, sizeof(owner), "%zu", n);
    do {
        call_ns = clock_mono_ns();
        outcome = lock_one(coord, "{burst}:k", owner);
        atomic_fetch_add(outcome == COORD_OK || outcome == COORD_TAKEN ? &burst->ok
                         : outcome == COORD_UNAVAILABLE                ? &burst->unavailable
                                                                       : &burst->other,
                         1);
        if (scene_ms_since(call_ns) > 1000)
            atomic_fetch_add(&burst->slow, 1);
        task_sleep(1);
    } while (outcome != COORD_UNAVAILABLE && scene_ms_since(begin_ns) < 5000);
}

struct disaster {
    const char *what, *relief;
    struct burst burst;
};

static void strike(struct coord *coord, void *arg, size_t n)
{
    struct disaster *disaster = arg;
    if (n > 0) {
        locks_until_it_fails(coord, &disaster->burst, n);
        return;
    }
    task_sleep(400);
    scene_redis_do(&redis, disaster->what);
}

static void in_the_middle_of_a_burst(struct coord *coord, void *arg, size_t n)
{
    struct disaster *disaster = arg;
    (void)n;
    scene_crowd(coord, 300, strike, disaster);
    if (strcmp(disaster->what, "pause") == 0) {
        task_sleep(1200); /* the heartbeat gives up */
        everything_is_unavailable(coord, 0);
        CHECK(says(coord, "no answer"));
    }
    scene_redis_do(&redis, disaster->relief);
    CHECK(scene_until(works, coord, RECOVERY_MS));
    CHECK_OUTCOME(lock_one(coord, "{burst}:after", "a"), COORD_OK);
    struct coord_lock_key key = {STR("{burst}:after"), 1};
    CHECK_OUTCOME(scene_unlock(coord, &key, 1, STR("a")), COORD_OK);
}

static void check_burst(struct burst *burst)
{
    assert_true(burst->ok > 0);
    assert_true(burst->unavailable >= 299);
    assert_int_equal(burst->other, 0);
    assert_int_equal(burst->slow, 0);
}

static void test_killed_in_the_middle_of_a_burst(void **state)
{
    (void)state;
    struct disaster disaster = {.what = "kill", .relief = "start"};
    scene_run(&adapter, 1, in_the_middle_of_a_burst, &disaster);
    check_burst(&disaster.burst);
}

static void test_paused_in_the_middle_of_a_burst(void **state)
{
    (void)state;
    struct disaster disaster = {.what = "pause", .relief = "resume"};
    scene_run(&adapter, 1, in_the_middle_of_a_burst, &disaster);
    check_burst(&disaster.burst);
}

/* A pause shorter than the heartbeat's patience: late answers find that their tasks have left. */
static void late_answers(struct coord *coord, void *arg, size_t n)
{
    struct burst *burst = arg;
    int64_t value;
    (void)n;
    CHECK_OUTCOME(coord_sequence(coord, STR("{late}:n"), &value), COORD_OK);
    scene_redis_do(&redis, "pause");
    task_set_deadline(clock_mono_ns() + 50 * NS_PER_MS);
    CHECK_OUTCOME(coord_sequence(coord, STR("{late}:n"), &value), COORD_UNAVAILABLE);
    task_set_deadline(0);
    scene_crowd(coord, 100, locks_until_it_fails, burst);
    scene_redis_do(&redis, "resume");
    CHECK(scene_until(works, coord, RECOVERY_MS));
    CHECK_OUTCOME(coord_sequence(coord, STR("{late}:n"), &value), COORD_OK);
    CHECK(value == 3); /* the one that nobody waited for has been drawn */
}

static void test_late_answers_find_nobody(void **state)
{
    (void)state;
    struct burst burst = {0};
    scene_run(&adapter, 1, late_answers, &burst);
    assert_int_equal(burst.unavailable, 100);
    assert_int_equal(burst.slow, 0);
}

/* More requests than a loop may have under way: the next is refused at once, until the answers have come. */
static void gives_up_soon(struct coord *coord, void *arg, size_t n)
{
    int64_t value;
    (void)arg, (void)n;
    task_set_deadline(clock_mono_ns() + 60 * NS_PER_MS); /* time enough to be sent */
    CHECK_OUTCOME(coord_sequence(coord, STR("{full}:n"), &value), COORD_UNAVAILABLE);
}

static void fills_the_link(struct coord *coord, void *arg, size_t n)
{
    int64_t value, begin_ns;
    (void)arg, (void)n;
    CHECK(scene_until(works, coord, RECOVERY_MS));
    scene_redis_do(&redis, "pause");
    for (int round = 0; round < 12; round++)
        scene_crowd(coord, 3000, gives_up_soon, NULL);
    begin_ns = clock_mono_ns();
    CHECK_OUTCOME(coord_sequence(coord, STR("{full}:n"), &value), COORD_UNAVAILABLE);
    CHECK(scene_ms_since(begin_ns) < TIMEOUT_MS / 2);
    scene_redis_do(&redis, "resume");
    CHECK(scene_until(works, coord, RECOVERY_MS));
}

static void test_requests_under_way_are_bounded(void **state)
{
    (void)state;
    scene_run(&adapter, 1, fills_the_link, NULL);
}

static void locks_own_key(struct coord *coord, void *arg, size_t n)
{
    char key[32];
    (void)arg;
    snprintf(key, sizeof(key), "{script}:%zu", n);
    CHECK_OUTCOME(lock_one(coord, key, "a"), COORD_OK);
}

static void scripts_are_lost(struct coord *coord, void *arg, size_t n)
{
    int64_t number;
    (void)arg, (void)n;
    CHECK(scene_until(works, coord, RECOVERY_MS));
    scene_redis_cli(&redis, "script flush");
    scene_crowd(coord, 500, locks_own_key, NULL);
    scene_redis_cli(&redis, "script flush");
    CHECK_OUTCOME(coord_rate(coord, STR("{script}:r"), 1, 1000, &number), COORD_OK);
    CHECK_OUTCOME(coord_count(coord, STR("{script}:c"), 1, 1000, &number), COORD_OK);
}

static void test_scripts_are_loaded_again(void **state)
{
    (void)state;
    scene_run(&adapter, 1, scripts_are_lost, NULL);
}

/* A port that accepts and never answers: the kernel's backlog does the accepting. */
static int listen_and_stay_silent(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 100) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void is_unreachable(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    CHECK(says(coord, "not connected yet"));
    everything_is_unavailable(coord, 3);
    task_sleep(700);
    CHECK(says(coord, arg));
    everything_is_unavailable(coord, 0);
}

static void test_a_silent_peer(void **state)
{
    (void)state;
    struct scene_adapter silent = adapter;
    int fd = listen_and_stay_silent(&silent.settings.port);
    scene_run(&silent, 1, is_unreachable, (void *)"no answer within a second");
    close(fd);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct scene_adapter nobody = adapter;
    nobody.settings.timeout_ms = 30000; /* a refused connection is not waited for, whatever a command's limit */
    close(listen_and_stay_silent(&nobody.settings.port));
    scene_run(&nobody, 1, is_unreachable, (void *)"refused");
}

static void test_no_such_host(void **state)
{
    (void)state;
    struct scene_adapter nowhere = adapter;
    nowhere.settings.host = "redis.invalid";
    scene_run(&nowhere, 1, is_unreachable, (void *)"redis.invalid");
}

static void is_refused(struct coord *coord, void *arg, size_t n)
{
    (void)n;
    everything_is_unavailable(coord, 1);
    CHECK(says(coord, arg));
}

static void just_works(struct coord *coord, void *arg, size_t n)
{
    (void)arg, (void)n;
    CHECK(works(coord));
}

static void test_passwords(void **state)
{
    (void)state;
    struct scene_adapter other = adapter;
    other.settings.port = guarded.port;
    scene_run(&other, 1, is_refused, (void *)"NOAUTH");
    other.settings.password = "wrong";
    scene_run(&other, 1, is_refused, (void *)"WRONGPASS");
    other.settings.password = "secret";
    scene_run(&other, 1, just_works, NULL);
    other.settings.username = "nobody";
    scene_run(&other, 1, is_refused, (void *)"WRONGPASS");
    other.settings.username = "default";
    scene_run(&other, 1, just_works, NULL);
}

static void draws_first(struct coord *coord, void *arg, size_t n)
{
    int64_t value = 0;
    (void)n;
    CHECK_OUTCOME(coord_sequence(coord, STR("{database}"), &value), COORD_OK);
    CHECK(value == *(int64_t *)arg);
}

static void test_databases_are_apart(void **state)
{
    (void)state;
    struct scene_adapter other = adapter;
    int64_t first = 1, second = 2;
    other.settings.host = "localhost"; /* also a name that must be looked up */
    scene_run(&other, 1, draws_first, &first);
    other.settings.database = 3;
    scene_run(&other, 1, draws_first, &first);
    scene_run(&other, 1, draws_first, &second);
    other.settings.database = 99;
    scene_run(&other, 1, is_refused, (void *)"choosing the database");
}

struct ear {
    int gaps, messages;
};

static void hear(void *context, struct str message)
{
    (void)message;
    ((struct ear *)context)->messages++;
}

static void hear_gap(void *context)
{
    ((struct ear *)context)->gaps++;
}

static bool heard_a_message(void *ear)
{
    return ((struct ear *)ear)->messages > 0;
}

static bool heard_two_gaps(void *ear)
{
    return ((struct ear *)ear)->gaps > 1;
}

static bool heard_three_gaps(void *ear)
{
    return ((struct ear *)ear)->gaps > 2;
}

static bool heard_a_gap(void *ear)
{
    return ((struct ear *)ear)->gaps > 0;
}

static void is_cut_off(struct coord *coord, void *arg, size_t n)
{
    struct ear ear = {0};
    (void)arg, (void)n;
    struct coord_subscription *subscription =
        coord_subscribe(coord, STR("cut"), (struct coord_subscriber){hear, hear_gap, &ear});
    CHECK(scene_until(heard_a_gap, &ear, RECOVERY_MS));
    CHECK(scene_until(works, coord, RECOVERY_MS));
    scene_redis_do(&redis, "wipe");
    CHECK(scene_until(heard_two_gaps, &ear, RECOVERY_MS));
    scene_redis_do(&redis, "pause");
    task_sleep(1600); /* nothing was sent on this connection, and yet it is noticed */
    CHECK(coord_trouble(coord));
    scene_redis_do(&redis, "resume");
    CHECK(scene_until(heard_three_gaps, &ear, RECOVERY_MS));
    CHECK(scene_until(works, coord, RECOVERY_MS));
    CHECK(ear.messages == 0);
    CHECK_OUTCOME(coord_publish(coord, STR("cut"), STR("x")), COORD_OK);
    CHECK(scene_until(heard_a_message, &ear, 3000));
    coord_unsubscribe(subscription);
}

static void test_subscribers_are_told_of_gaps(void **state)
{
    (void)state;
    scene_run(&adapter, 1, is_cut_off, NULL);
}

/* Two servers of a fleet: what one does the other sees. */
static void sees_the_other(struct coord *coord, void *arg, size_t n)
{
    struct coord *other = arg;
    struct ear ear = {0};
    int64_t value = 0, retry;
    (void)n;
    CHECK_OUTCOME(lock_one(coord, "{two}:k", "a"), COORD_OK);
    CHECK_OUTCOME(lock_one(other, "{two}:k", "b"), COORD_TAKEN);
    CHECK_OUTCOME(coord_sequence(coord, STR("{two}:n"), &value), COORD_OK);
    CHECK_OUTCOME(coord_sequence(other, STR("{two}:n"), &value), COORD_OK);
    CHECK(value == 2);
    CHECK_OUTCOME(coord_rate(coord, STR("{two}:r"), 1, 60000, &retry), COORD_OK);
    CHECK_OUTCOME(coord_rate(other, STR("{two}:r"), 1, 60000, &retry), COORD_LIMITED);
    struct coord_subscription *subscription =
        coord_subscribe(other, STR("two"), (struct coord_subscriber){hear, hear_gap, &ear});
    CHECK(scene_until(heard_a_gap, &ear, 3000));
    CHECK_OUTCOME(coord_publish(coord, STR("two"), STR("x")), COORD_OK);
    CHECK(scene_until(heard_a_message, &ear, 3000));
    coord_unsubscribe(subscription);
    coord_close_loop(other);
}

static void test_two_servers_see_each_other(void **state)
{
    (void)state;
    struct coord *other = coord_open(&adapter.settings);
    scene_run(&adapter, 1, sees_the_other, other);
    coord_close(other);
}

static int start_servers(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_ERROR, LOG_TEXT);
    bool started = scene_redis_start(&redis, NULL) && scene_redis_start(&guarded, "secret");
    adapter.settings.port = redis.port;
    return started ? 0 : -1;
}

static int stop_servers(void **state)
{
    (void)state;
    scene_redis_remove(&redis);
    scene_redis_remove(&guarded);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_servers_see_each_other),
        cmocka_unit_test(test_killed_and_started_empty),
        cmocka_unit_test(test_killed_in_the_middle_of_a_burst),
        cmocka_unit_test(test_paused_in_the_middle_of_a_burst),
        cmocka_unit_test(test_late_answers_find_nobody),
        cmocka_unit_test(test_requests_under_way_are_bounded),
        cmocka_unit_test(test_scripts_are_loaded_again),
        cmocka_unit_test(test_subscribers_are_told_of_gaps),
        cmocka_unit_test(test_a_silent_peer),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_no_such_host),
        cmocka_unit_test(test_passwords),
        cmocka_unit_test(test_databases_are_apart),
    };
    return cmocka_run_group_tests_name("coord faults", tests, start_servers, stop_servers);
}
