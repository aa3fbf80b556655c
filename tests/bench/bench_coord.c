/*
 * The shared steps of a claim, for `./dev bench coord`: lock a user and an
 * address, draw a number, unlock. So many tasks at once on one loop, each again
 * and again. Without a port it measures the adapter in this process.
 *
 *     bench_coord TASKS SECONDS [PORT]
 */
#include "base/clock.h"
#include "base/log.h"
#include "coord/coord.h"
#include "task/task.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static struct coord *coord;
static size_t left;
static int64_t end_ns, claims, failures;

static void claim_again_and_again(void *arg)
{
    size_t me = left++;
    char user[48], address[48], owner[32];
    (void)arg;
    snprintf(user, sizeof(user), "{7}:dup:user:%zu", me);
    snprintf(address, sizeof(address), "{7}:dup:ip:10.0.%zu.%zu", me / 256, me % 256);
    snprintf(owner, sizeof(owner), "owner-%zu", me);
    const struct coord_lock_key keys[] = {{str_from(user), 1}, {str_from(address), 1}};
    struct coord_lock lock = {.keys = keys, .count = 2, .owner = str_from(owner), .ttl_ms = 5000};
    while (clock_mono_ns() < end_ns) {
        int64_t number;
        bool good =
            coord_lock(coord, &lock) == COORD_OK && coord_sequence(coord, STR("{7}:sequence"), &number) == COORD_OK;
        good = coord_unlock(coord, &lock) == COORD_OK && good;
        if (good)
            claims++;
        else
            failures++;
        if (claims % 256 == 0)
            task_sleep(0); /* the adapter in this process never waits, and others want their turn */
    }
    if (--left > 0)
        return;
    coord_close_loop(coord);
    loop_stop(loop_current());
}

struct start {
    struct loop_message message;
    int tasks;
};

static void start_tasks(struct loop_message *message)
{
    struct start *start = (struct start *)message;
    for (int i = 0; i < start->tasks; i++)
        task_start(claim_again_and_again, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s TASKS SECONDS [PORT]\n", argv[0]);
        return 2;
    }
    struct start start = {.message.deliver = start_tasks, .tasks = atoi(argv[1])};
    int64_t seconds = atoi(argv[2]);
    struct coord_settings settings = {.timeout_ms = 1000, .max_entries = 100000};
    if (argc > 3) {
        settings.host = "127.0.0.1";
        settings.port = atoi(argv[3]);
    }
    signal(SIGPIPE, SIG_IGN);
    log_setup(LOG_ERROR, LOG_AUTO);
    coord = coord_open(&settings);
    struct loop *loop = loop_create((size_t)start.tasks);
    if (!coord || !loop)
        return 1;
    end_ns = clock_mono_ns() + seconds * NS_PER_S;
    loop_post(loop, &start.message);
    loop_run(loop);
    loop_destroy(loop);
    coord_close(coord);
    printf("%lld claims/s, %lld failed\n", (long long)(claims / seconds), (long long)failures);
    return failures ? 1 : 0;
}
