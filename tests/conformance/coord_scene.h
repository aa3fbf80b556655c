/*
 * What the tests of the coordination port share: a private Redis, loops in
 * threads that run a test's tasks, and checks that work inside of tasks (cmocka's
 * jump to the test's own stack, which a task must not do).
 */
#ifndef TESTS_COORD_SCENE_H
#define TESTS_COORD_SCENE_H

#include "base/clock.h"
#include "coord/coord.h"
#include "task/task.h"
#include "test.h"

#include <stdatomic.h>
#include <stdio.h>

/* Counted, printed, and asserted to be none by scene_run. */
extern atomic_int scene_failures;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                                    \
            atomic_fetch_add(&scene_failures, 1);                                                                      \
        }                                                                                                              \
    } while (0)
#define CHECK_OUTCOME(call, expected)                                                                                  \
    do {                                                                                                               \
        int scene_outcome = (int)(call);                                                                               \
        if (scene_outcome != (int)(expected)) {                                                                        \
            fprintf(stderr, "%s:%d: %s gave %d, not %s\n", __FILE__, __LINE__, #call, scene_outcome, #expected);       \
            atomic_fetch_add(&scene_failures, 1);                                                                      \
        }                                                                                                              \
    } while (0)

/* The adapter a test runs against. */
struct scene_adapter {
    const char *name;
    bool shared; /* time is Redis' own, so tests must sleep; else they move the clock */
    struct coord_settings settings;
};

/* local and redis, the latter on a server that scene_start starts for a group of tests. */
extern struct scene_adapter scene_adapters[2];
int scene_start(void **state);
int scene_stop(void **state);
#define SCENE_ON_BOTH(test)                                                                                            \
    {"local: " #test, test, NULL, NULL, &scene_adapters[0]},                                                           \
    {                                                                                                                  \
        "redis: " #test, test, NULL, NULL, &scene_adapters[1]                                                          \
    }

/* Runs fn(coord, arg, n) as a task on each of `loops` loops n = 0 …, each in a thread of its own, and closes all. */
typedef void scene_task(struct coord *coord, void *arg, size_t n);
void scene_run(const struct scene_adapter *adapter, size_t loops, scene_task *fn, void *arg);

/* From a task: runs fn(coord, arg, n) in `count` tasks at once and waits for all. */
void scene_crowd(struct coord *coord, size_t count, scene_task *fn, void *arg);

/* A lock by its parts; and its release by somebody who knows its owner's name and nothing else of it. */
enum coord_outcome scene_lock(struct coord *coord, const struct coord_lock_key *keys, size_t count, struct str owner,
                              int64_t ttl_ms);
enum coord_outcome scene_unlock(struct coord *coord, const struct coord_lock_key *keys, size_t count, struct str owner);

/* From a task: lets `ms` pass for the adapter. */
void scene_pass(const struct scene_adapter *adapter, int64_t ms);

/* From a task: waits until condition(arg) holds, at most `ms`. */
bool scene_until(bool (*condition)(void *arg), void *arg, int64_t ms);

int64_t scene_ms_since(int64_t mono_ns);

/* A Redis of our own in a temporary folder. `password` may be NULL. Stopped and removed by scene_redis_remove. */
struct scene_redis {
    char folder[256];
    int port;
};
bool scene_redis_start(struct scene_redis *redis, const char *password);
void scene_redis_remove(struct scene_redis *redis);

/* kill, start, pause, resume, wipe: on a thread of the pool, so that the loop goes on. From a task. */
void scene_redis_do(struct scene_redis *redis, const char *what);

/* Runs `redis-cli` with these arguments against it, from a task. */
void scene_redis_cli(struct scene_redis *redis, const char *arguments);

#endif
