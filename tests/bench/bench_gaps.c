/*
 * How much of the processors the hypervisor takes away unseen. On each processor a thread that goes before everything
 * else wakes every millisecond; by as much as it is late, the processor was not there. (What /proc/stat calls stolen is
 * a part of it at best.)
 *
 *   bench_gaps        until its standard input is closed; prints one line of JSON
 *
 * "lost" is the share of the time that was missing on the worst processor; -1 where we may not go before the others.
 */
#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE_NS = NS_PER_MS / 4 }; /* what an interrupt takes is no gap */

struct watcher {
    pthread_t thread;
    int64_t lost_ns, longest_ns;
};

static atomic_bool over;

static void *watch_processor(void *argument)
{
    struct watcher *watcher = argument;
    struct timespec due;
    clock_gettime(CLOCK_MONOTONIC, &due);
    while (!over) {
        due.tv_nsec += NS_PER_MS;
        due.tv_sec += due.tv_nsec / NS_PER_S;
        due.tv_nsec %= NS_PER_S;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        int64_t late = clock_mono_ns() - (due.tv_sec * NS_PER_S + due.tv_nsec);
        if (late < LATE_NS)
            continue;
        watcher->lost_ns += late;
        if (late > watcher->longest_ns)
            watcher->longest_ns = late;
        clock_gettime(CLOCK_MONOTONIC, &due);
    }
    return NULL;
}

static bool start(struct watcher *watcher, size_t processor)
{
    pthread_attr_t attributes;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(one), &one);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &(struct sched_param){.sched_priority = 1});
    bool started = pthread_create(&watcher->thread, &attributes, watch_processor, watcher) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

int main(void)
{
    size_t processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    struct watcher *watchers = calloc(processors, sizeof(*watchers));
    int64_t began = clock_mono_ns();
    while (watchers && started < processors && start(&watchers[started], started))
        started++;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    over = true;
    int64_t took = clock_mono_ns() - began, lost = 0, longest = 0;
    for (size_t i = 0; i < started; i++) {
        pthread_join(watchers[i].thread, NULL);
        lost = watchers[i].lost_ns > lost ? watchers[i].lost_ns : lost;
        longest = watchers[i].longest_ns > longest ? watchers[i].longest_ns : longest;
    }
    printf("{\"lost\":%.6f,\"longest_ms\":%.3f}\n", started == processors ? (double)lost / (double)took : -1.0,
           (double)longest / NS_PER_MS);
    free(watchers);
    return 0;
}
