/*
 * What other virtual machines take away unseen. On each processor a thread that goes before everything else wakes every
 * millisecond; by as much as it is late, the processor was not there. (What /proc/stat calls stolen is a part of it at
 * best.) Another thread writes a page to the disk fifty times a second, and looks how long that takes.
 *
 *   bench_gaps        until its standard input is closed; prints one line of JSON
 *
 * "lost" is the share of the time that was missing on the worst processor; -1 where we may not go before the others.
 * "disk_ms" is the longest that the disk under $TMPDIR took.
 */
#include "base/clock.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LATE_NS = NS_PER_MS / 4, /* what an interrupt takes is no gap */
    DISK_PAUSE_US = 20000,
    PAGE_BYTES = 4096,
};

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

static int open_scratch_file(void)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/tickettock-bench-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    if (file >= 0)
        unlink(path);
    return file;
}

/* The same page each time: the disk's own work, and none of the file system's. */
static void *watch_disk(void *argument)
{
    struct watcher *watcher = argument;
    static const char page[PAGE_BYTES] = "tickettock";
    int file = open_scratch_file();
    bool works = file >= 0 && pwrite(file, page, sizeof(page), 0) == sizeof(page) && fsync(file) == 0;
    while (works && !over) {
        usleep(DISK_PAUSE_US);
        int64_t began = clock_mono_ns();
        works = pwrite(file, page, sizeof(page), 0) == sizeof(page) && fdatasync(file) == 0;
        int64_t took = clock_mono_ns() - began;
        if (took > watcher->longest_ns)
            watcher->longest_ns = took;
    }
    if (file >= 0)
        close(file);
    return NULL;
}

/* Before everything else, where we may. */
static bool start(struct watcher *watcher, void *(*watch)(void *), const cpu_set_t *processors)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof(*processors), processors);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &(struct sched_param){.sched_priority = 1});
    bool started = pthread_create(&watcher->thread, &attributes, watch, watcher) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static bool start_on(struct watcher *watcher, size_t processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return start(watcher, watch_processor, &one);
}

int main(void)
{
    size_t processors = (size_t)sysconf(_SC_NPROCESSORS_ONLN), started = 0;
    struct watcher *watchers = calloc(processors, sizeof(*watchers));
    struct watcher disk = {.longest_ns = 0};
    cpu_set_t all;
    int64_t began = clock_mono_ns();
    while (watchers && started < processors && start_on(&watchers[started], started))
        started++;
    bool watches_disk = sched_getaffinity(0, sizeof(all), &all) == 0 && start(&disk, watch_disk, &all);
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
    if (watches_disk)
        pthread_join(disk.thread, NULL);
    printf("{\"lost\":%.6f,\"longest_ms\":%.3f,\"disk_ms\":%.3f}\n",
           started == processors ? (double)lost / (double)took : -1.0, (double)longest / NS_PER_MS,
           (double)disk.longest_ns / NS_PER_MS);
    free(watchers);
    return 0;
}
