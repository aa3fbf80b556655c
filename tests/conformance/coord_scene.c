#include "coord_scene.h"

#include "base/log.h"
#include "task/offload.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { TASKS_MAX = 4096 };

atomic_int scene_failures;

struct stage {
    struct coord *coord;
    scene_task *fn;
    void *arg;
    size_t n;
    struct loop_message start;
    pthread_t thread;
};

static void perform(void *argument)
{
    struct stage *stage = argument;
    stage->fn(stage->coord, stage->arg, stage->n);
    coord_close_loop(stage->coord);
    loop_stop(loop_current());
}

static void begin(struct loop_message *message)
{
    CHECK(task_start(perform, (char *)message - offsetof(struct stage, start)));
}

static void *run_stage(void *argument)
{
    struct stage *stage = argument;
    struct loop *loop = loop_create(TASKS_MAX);
    stage->start.deliver = begin;
    loop_post(loop, &stage->start);
    loop_run(loop);
    loop_destroy(loop);
    return NULL;
}

void scene_run(const struct scene_adapter *adapter, size_t loops, scene_task *fn, void *arg)
{
    struct stage stages[8];
    assert_true(loops <= 8);
    atomic_store(&scene_failures, 0);
    struct coord *coord = coord_open(&adapter->settings);
    assert_non_null(coord);
    for (size_t n = 0; n < loops; n++) {
        stages[n] = (struct stage){.coord = coord, .fn = fn, .arg = arg, .n = n};
        assert_int_equal(pthread_create(&stages[n].thread, NULL, run_stage, &stages[n]), 0);
    }
    for (size_t n = 0; n < loops; n++)
        pthread_join(stages[n].thread, NULL);
    coord_close(coord);
    assert_int_equal(atomic_load(&scene_failures), 0);
}

struct crowd {
    struct coord *coord;
    scene_task *fn;
    void *arg;
    size_t started, left;
    struct wakeup ended;
};

static void member(void *argument)
{
    struct crowd *crowd = argument;
    crowd->fn(crowd->coord, crowd->arg, crowd->started++);
    if (--crowd->left == 0)
        wakeup_now(&crowd->ended);
}

void scene_crowd(struct coord *coord, size_t count, scene_task *fn, void *arg)
{
    struct crowd crowd = {.coord = coord, .fn = fn, .arg = arg, .left = count};
    wakeup_prepare(&crowd.ended);
    for (size_t i = 0; i < count; i++) {
        bool started = task_start(member, &crowd);
        CHECK(started);
        crowd.left -= !started;
    }
    wakeup_wait_done(&crowd.ended);
}

void scene_pass(const struct scene_adapter *adapter, int64_t ms)
{
    if (adapter->shared)
        task_sleep(ms);
    else
        clock_move(ms);
}

bool scene_until(bool (*condition)(void *arg), void *arg, int64_t ms)
{
    for (int64_t begin_ns = clock_mono_ns(); !condition(arg);) {
        if (scene_ms_since(begin_ns) > ms)
            return false;
        task_sleep(5);
    }
    return true;
}

int64_t scene_ms_since(int64_t mono_ns)
{
    return (clock_mono_ns() - mono_ns) / NS_PER_MS;
}

static bool shell(const char *command)
{
    int status = system(command);
    if (status != 0)
        fprintf(stderr, "gave %d: %s\n", status, command);
    return status == 0;
}

bool scene_redis_start(struct scene_redis *redis, const char *password)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(redis->folder, sizeof(redis->folder), "%s/coord-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(redis->folder))
        return false;
    char command[1024];
    snprintf(command, sizeof(command), "PRIVATE_REDIS_PASSWORD='%s' " PRIVATE_SERVER " redis start '%s' >/dev/null",
             password ? password : "", redis->folder);
    if (!shell(command))
        return false;
    char path[300];
    snprintf(path, sizeof(path), "%s/port", redis->folder);
    FILE *file = fopen(path, "r");
    bool found = file && fscanf(file, "%d", &redis->port) == 1;
    if (file)
        fclose(file);
    return found;
}

void scene_redis_remove(struct scene_redis *redis)
{
    char command[1024];
    snprintf(command, sizeof(command), PRIVATE_SERVER " kill '%s' >/dev/null 2>&1; rm -rf '%s'", redis->folder,
             redis->folder);
    shell(command);
}

static void run_shell(void *command)
{
    CHECK(shell(command));
}

static void offload_shell(char *command)
{
    struct offload *offload = offload_create(1, 1, 0);
    CHECK(offload_enter(offload) && task_offload(offload, run_shell, command));
    offload_leave(offload);
    offload_destroy(offload);
}

void scene_redis_do(struct scene_redis *redis, const char *what)
{
    char command[1024];
    bool start = strcmp(what, "start") == 0;
    snprintf(command, sizeof(command), PRIVATE_SERVER " %s%s '%s' >/dev/null", start ? "redis " : "", what,
             redis->folder);
    offload_shell(command);
}

void scene_redis_cli(struct scene_redis *redis, const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof(command), "redis-cli -p %d %s >/dev/null", redis->port, arguments);
    offload_shell(command);
}

static struct scene_redis shared_redis;

/* The time limit is generous: these tests are about meaning, and sanitizers make the loops slow. */
struct scene_adapter scene_adapters[2] = {
    {.name = "local", .settings = {.max_entries = 100000}},
    {.name = "redis", .shared = true, .settings = {.host = "127.0.0.1", .timeout_ms = 20000}},
};

int scene_start(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_OFF, LOG_TEXT);
    bool started = scene_redis_start(&shared_redis, NULL);
    scene_adapters[1].settings.port = shared_redis.port;
    return started ? 0 : -1;
}

int scene_stop(void **state)
{
    (void)state;
    scene_redis_remove(&shared_redis);
    return 0;
}

enum coord_outcome scene_lock(struct coord *coord, const struct coord_lock_key *keys, size_t count, struct str owner,
                              int64_t ttl_ms)
{
    return coord_lock(coord, &(struct coord_lock){.keys = keys, .count = count, .owner = owner, .ttl_ms = ttl_ms});
}

enum coord_outcome scene_unlock(struct coord *coord, const struct coord_lock_key *keys, size_t count, struct str owner)
{
    return coord_unlock(coord, &(struct coord_lock){.keys = keys, .count = count, .owner = owner});
}
