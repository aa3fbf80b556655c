/*
 * Files whose size and SHA-256 are written down, so that whoever reads them later knows that they are whole.
 *
 *     struct summed_file file;
 *     struct file_sum sum;
 *     bool good = summed_file_create(&file, path);
 *     … good = good && summed_file_write(&file, bytes, size) …
 *     good = summed_file_finish(&file, good, &sum);
 *
 * Every failure is logged with its reason.
 */
#ifndef BASE_SUMMED_FILE_H
#define BASE_SUMMED_FILE_H

#include "base/str.h"

struct file_sum {
    int64_t size;
    char sha256[65]; /* in hexadecimal */
};

bool file_sum_equal(const struct file_sum *a, const struct file_sum *b);

/* A new file of its owner's only. */
struct summed_file {
    const char *path;
    int fd;
    void *digest;
    int64_t size;
};

__attribute__((warn_unused_result)) bool summed_file_create(struct summed_file *file, const char *path);
__attribute__((warn_unused_result)) bool summed_file_write(struct summed_file *file, const void *bytes, size_t size);
/* Closes it in any case. With `good` it is synced to the disk first; true when that worked. */
__attribute__((warn_unused_result)) bool summed_file_finish(struct summed_file *file, bool good, struct file_sum *sum);

/* Reads the file from front to back and sums it; `take` gets each piece and may end it by false. `take` may be NULL. */
typedef bool summed_file_take_fn(void *context, const void *bytes, size_t size);
__attribute__((warn_unused_result)) bool summed_file_read(const char *path, summed_file_take_fn *take, void *context,
                                                          struct file_sum *sum);

/* A new private file with the bytes of another, synced; the sum is what was read. */
__attribute__((warn_unused_result)) bool summed_file_copy(const char *from, const char *to, struct file_sum *sum);

/* A file's bytes, or the names in a folder, reach the disk. */
__attribute__((warn_unused_result)) bool summed_file_sync(const char *path);

#endif
