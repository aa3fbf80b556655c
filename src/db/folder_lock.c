#include "db/folder_lock.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_AGAIN_US = 20000 };

static int refuse(const char *what, const char *path, int fd)
{
    log_error(what, LOG_C("path", path), LOG_C("reason", strerror(errno)));
    if (fd >= 0)
        close(fd);
    return -1;
}

int folder_lock(const char *directory, const char *service, int64_t wait_ms)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s.lock", directory, service) >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return refuse("cannot use the data folder", directory, -1);
    }
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return refuse("cannot create the data folder", directory, -1);
    private_file_tighten(path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return refuse("cannot create a lock in the data folder", path, -1);

    int64_t until = clock_mono_ns() + wait_ms * NS_PER_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return refuse("cannot lock the data folder", path, fd);
        if (clock_mono_ns() >= until)
            return refuse("another server is using the data folder", path, fd);
        usleep(LOOK_AGAIN_US);
    }
    return fd;
}
