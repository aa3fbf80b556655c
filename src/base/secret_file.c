#include "base/secret_file.h"

#include "base/base64.h"
#include "base/log.h"
#include "base/private_file.h"
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_SIZE = (SECRET_BYTES + 2) / 3 * 4 + 1 };

static bool refuse(const char *what, const char *path)
{
    log_error(what, LOG_C("path", path), LOG_C("reason", strerror(errno)));
    return false;
}

/* A new secret on disk, under a name of its own. */
static bool write_new(const char *path)
{
    uint8_t secret[SECRET_BYTES];
    char line[LINE_SIZE];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return refuse("cannot create a file for a secret", path);
    random_secret(secret, sizeof(secret));
    base64_write(BASE64_STANDARD, secret, sizeof(secret), line);
    line[LINE_SIZE - 1] = '\n';
    bool written = write(fd, line, sizeof(line)) == (ssize_t)sizeof(line) && fsync(fd) == 0;
    explicit_bzero(secret, sizeof(secret));
    explicit_bzero(line, sizeof(line));
    if (!written)
        refuse("cannot write a secret", path);
    close(fd);
    return written;
}

static void sync_folder(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* Written aside and then linked, which fails where the name exists: so the file is whole from its first moment, and the
 * first of several wins. */
static bool make(const char *directory, const char *path)
{
    char aside[PATH_MAX];
    int length = snprintf(aside, sizeof(aside), "%s.%016llx.new", path, (unsigned long long)random_fast());
    if ((size_t)length >= sizeof(aside)) {
        errno = ENAMETOOLONG;
        return refuse("cannot create a file for a secret", path);
    }
    bool made = write_new(aside);
    if (made && link(aside, path) != 0 && errno != EEXIST)
        made = refuse("cannot create a file for a secret", path);
    unlink(aside);
    if (made)
        sync_folder(directory);
    return made;
}

static bool read_existing(const char *path, int fd, uint8_t secret[SECRET_BYTES])
{
    char text[LINE_SIZE + 1];
    uint8_t bytes[SECRET_BYTES + 3];
    size_t size = 0;
    ssize_t length = read(fd, text, sizeof(text));
    if (length < 0)
        return refuse("cannot read a secret", path);
    private_file_tighten(path);
    struct str line = str_make(text, (size_t)length);
    if (line.len && line.ptr[line.len - 1] == '\n')
        line.len--;
    bool good = line.len == LINE_SIZE - 1 && base64_read(BASE64_STANDARD, line, bytes, &size) && size == SECRET_BYTES;
    if (good)
        memcpy(secret, bytes, SECRET_BYTES);
    else
        log_error("this file holds no secret of 32 bytes in base64; restore it from a backup", LOG_C("path", path));
    explicit_bzero(text, sizeof(text));
    explicit_bzero(bytes, sizeof(bytes));
    return good;
}

bool secret_file_read(const char *directory, const char *name, uint8_t secret[SECRET_BYTES])
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) >= sizeof(path)) {
        errno = ENAMETOOLONG;
        return refuse("cannot use the data folder", directory);
    }
    if (mkdir(directory, 0700) != 0 && errno != EEXIST)
        return refuse("cannot create the data folder", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && make(directory, path))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    else if (fd < 0 && errno == ENOENT)
        return false; /* make has told why */
    if (fd < 0)
        return refuse("cannot read a secret", path);
    bool good = read_existing(path, fd, secret);
    close(fd);
    return good;
}
