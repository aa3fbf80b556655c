#include "base/private_file.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

bool private_file_create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno == EEXIST;
}

void private_file_tighten(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || (about.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return;
    if (chmod(path, about.st_mode & S_IRWXU) == 0)
        log_warn("others than its owner could read or write a file of the data folder; not any more",
                 LOG_C("path", path));
    else
        log_warn("others than its owner can read or write a file of the data folder, and that cannot be changed",
                 LOG_C("path", path), LOG_C("reason", strerror(errno)));
}
