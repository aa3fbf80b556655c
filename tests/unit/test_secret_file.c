#include "base/log.h"
#include "base/secret_file.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];

static const char *path_of(const char *name)
{
    static char path[2 * PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/secret.XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *listing = opendir(folder);
    if (!listing)
        return -1;
    for (struct dirent *entry; (entry = readdir(listing));)
        if (entry->d_name[0] != '.')
            unlink(path_of(entry->d_name));
    closedir(listing);
    return rmdir(folder);
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_made_once_and_for_its_owner_only(void **state)
{
    (void)state;
    uint8_t first[SECRET_BYTES], second[SECRET_BYTES], other[SECRET_BYTES];
    struct stat about;
    umask(0);
    assert_true(secret_file_read(folder, "a.key", first));
    assert_true(secret_file_read(folder, "a.key", second));
    assert_true(secret_file_read(folder, "b.key", other));
    assert_memory_equal(first, second, SECRET_BYTES);
    assert_memory_not_equal(first, other, SECRET_BYTES);
    assert_int_equal(stat(path_of("a.key"), &about), 0);
    assert_int_equal(about.st_mode & 07777, 0600);
    assert_int_equal(about.st_size, 45);
}

enum { THREADS = 16 };

static void *read_one(void *argument)
{
    return secret_file_read(folder, "race.key", argument) ? argument : NULL;
}

static void test_many_at_once_get_the_same(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        uint8_t secrets[THREADS][SECRET_BYTES];
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_one, secrets[i]), 0);
        for (int i = 0; i < THREADS; i++) {
            void *done;
            pthread_join(threads[i], &done);
            assert_non_null(done);
            assert_memory_equal(secrets[i], secrets[0], SECRET_BYTES);
        }
        unlink(path_of("race.key"));
    }
    int files = 0;
    DIR *listing = opendir(folder);
    for (struct dirent *entry; (entry = readdir(listing));)
        files += entry->d_name[0] != '.';
    closedir(listing);
    assert_int_equal(files, 0); /* nothing stays aside */
}

static void test_a_damaged_file_is_refused_and_kept(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\nmore",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        uint8_t secret[SECRET_BYTES];
        struct stat about;
        put("bad.key", wrong[i]);
        assert_false(secret_file_read(folder, "bad.key", secret));
        assert_int_equal(stat(path_of("bad.key"), &about), 0);
        assert_int_equal(about.st_size, strlen(wrong[i]));
    }
    uint8_t secret[SECRET_BYTES], zeros[SECRET_BYTES] = {0};
    put("good.key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    assert_true(secret_file_read(folder, "good.key", secret));
    assert_memory_equal(secret, zeros, SECRET_BYTES);
    assert_false(secret_file_read("/proc/nowhere", "a.key", secret));
}

int main(void)
{
    log_setup(LOG_OFF, LOG_TEXT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_made_once_and_for_its_owner_only, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_many_at_once_get_the_same, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_a_damaged_file_is_refused_and_kept, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
