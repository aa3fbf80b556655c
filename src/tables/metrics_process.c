#include "base/clock.h"
#include "tables/metrics_table.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t loaded_ms;

__attribute__((constructor)) static void remember_the_start(void)
{
    loaded_ms = clock_wall_ms();
}

static double read_start(void *context, size_t label)
{
    (void)context, (void)label;
    return (double)loaded_ms / MS_PER_S;
}

static double read_one(void *context, size_t label)
{
    (void)context, (void)label;
    return 1;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double read_cpu(void *context, size_t label)
{
    (void)context, (void)label;
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? seconds(usage.ru_utime) + seconds(usage.ru_stime) : 0;
}

static double read_memory(void *context, size_t label)
{
    (void)context, (void)label;
    long resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*s %ld", &resident) != 1)
        resident = 0;
    fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static double read_fds(void *context, size_t label)
{
    (void)context, (void)label;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    double count = -1; /* not the folder itself */
    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2; /* nor . and .. */
}

static double read_max_fds(void *context, size_t label)
{
    (void)context, (void)label;
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

void metrics_watch_process(void)
{
    metrics_watch(METRIC_BUILD_INFO, read_one, NULL);
    metrics_watch(METRIC_PROCESS_CPU, read_cpu, NULL);
    metrics_watch(METRIC_PROCESS_MEMORY, read_memory, NULL);
    metrics_watch(METRIC_PROCESS_FDS, read_fds, NULL);
    metrics_watch(METRIC_PROCESS_MAX_FDS, read_max_fds, NULL);
    metrics_watch(METRIC_PROCESS_START, read_start, NULL);
}
