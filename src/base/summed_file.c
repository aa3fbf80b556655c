#include "base/summed_file.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 16 };

static bool refuse(const char *what, const char *path)
{
    log_error(what, LOG_C("path", path), LOG_C("reason", strerror(errno)));
    return false;
}

bool file_sum_equal(const struct file_sum *a, const struct file_sum *b)
{
    return a->size == b->size && strcmp(a->sha256, b->sha256) == 0;
}

static void *begin_digest(void)
{
    EVP_MD_CTX *digest = EVP_MD_CTX_new();
    if (!digest || EVP_DigestInit_ex(digest, EVP_sha256(), NULL) != 1)
        abort(); /* no memory, or an OpenSSL without SHA-256 */
    return digest;
}

static void end_digest(void *digest, int64_t size, struct file_sum *sum)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    if (EVP_DigestFinal_ex(digest, bytes, &length) != 1)
        abort();
    EVP_MD_CTX_free(digest);
    *sum = (struct file_sum){.size = size};
    for (size_t i = 0; i < length && 2 * i + 2 < sizeof(sum->sha256); i++)
        snprintf(sum->sha256 + 2 * i, 3, "%02x", bytes[i]);
}

bool summed_file_create(struct summed_file *file, const char *path)
{
    *file = (struct summed_file){.path = path, .fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
    file->digest = begin_digest();
    return file->fd >= 0 || refuse("cannot create a file", path);
}

bool summed_file_write(struct summed_file *file, const void *bytes, size_t size)
{
    EVP_DigestUpdate(file->digest, bytes, size);
    file->size += (int64_t)size;
    while (size) {
        ssize_t written = write(file->fd, bytes, size);
        if (written < 0 && errno != EINTR)
            return refuse("cannot write a file", file->path);
        if (written > 0) {
            bytes = (const char *)bytes + written;
            size -= (size_t)written;
        }
    }
    return true;
}

bool summed_file_finish(struct summed_file *file, bool good, struct file_sum *sum)
{
    end_digest(file->digest, file->size, sum);
    if (file->fd < 0)
        return false;
    if (good && fsync(file->fd) != 0)
        good = refuse("cannot write a file", file->path);
    if (close(file->fd) != 0 && good)
        good = refuse("cannot write a file", file->path);
    return good;
}

bool summed_file_read(const char *path, summed_file_take_fn *take, void *context, struct file_sum *sum)
{
    char piece[PIECE];
    ssize_t length;
    int64_t size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse("cannot read a file", path);
    void *digest = begin_digest();
    bool good = true;
    while (good && (length = read(fd, piece, sizeof(piece))) != 0) {
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            good = refuse("cannot read a file", path);
            break;
        }
        EVP_DigestUpdate(digest, piece, (size_t)length);
        size += length;
        good = !take || take(context, piece, (size_t)length);
    }
    end_digest(digest, size, sum);
    close(fd);
    return good;
}

static bool write_piece(void *context, const void *bytes, size_t size)
{
    return summed_file_write(context, bytes, size);
}

bool summed_file_copy(const char *from, const char *to, struct file_sum *sum)
{
    struct summed_file copy;
    struct file_sum read;
    bool good = summed_file_create(&copy, to) && summed_file_read(from, write_piece, &copy, &read);
    return summed_file_finish(&copy, good, sum);
}

bool summed_file_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool synced = fd >= 0 && fsync(fd) == 0;
    if (!synced)
        refuse("cannot sync a file or folder", path);
    if (fd >= 0)
        close(fd);
    return synced;
}
