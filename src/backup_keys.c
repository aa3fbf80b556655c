#include "backup_keys.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { KEYS_MAX_FILES = 64 };

static bool is_key_file(struct str name)
{
    struct str suffix = STR(".key");
    return name.len > suffix.len && str_eq(str_from_offset(name, name.len - suffix.len), suffix);
}

static bool add(struct backup_manifest *manifest, struct arena *arena, const char *name, const struct file_sum *sum)
{
    if (manifest->keys.count == KEYS_MAX_FILES)
        return false;
    manifest->keys.items[manifest->keys.count++] = arena_copy(arena, str_from(name));
    return copy_add_file(&manifest->copy, arena, name, sum);
}

static bool copy_key_files(const char *directory, const char *folder, struct arena *arena,
                           struct backup_manifest *manifest)
{
    DIR *data = opendir(directory);
    bool good = data != NULL;
    for (struct dirent *entry; good && (entry = readdir(data));) {
        struct file_sum sum;
        if (!is_key_file(str_from(entry->d_name)))
            continue;
        good = summed_file_copy(arena_format(arena, "%s/%s", directory, entry->d_name).ptr,
                                arena_format(arena, "%s/%s", folder, entry->d_name).ptr, &sum) &&
               add(manifest, arena, entry->d_name, &sum);
    }
    if (data)
        closedir(data);
    return good;
}

static bool write_settings(const struct settings *settings, const char *folder, struct arena *arena,
                           struct backup_manifest *manifest)
{
    const struct {
        const char *name;
        struct str value;
    } keys[] = {
        {"PII_KEYS", settings->pii_keys},
        {"PII_HASH_KEY", settings->pii_hash_key},
        {"JWT_SECRET", settings->jwt_secret},
        {"QUEUE_ENTRY_KEY", settings->queue_entry_key},
    };
    struct buf text = BUF_INIT(1 << 16);
    struct summed_file file;
    struct file_sum sum;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i].value.len)
            buf_add_format(&text, "%s=%.*s\n", keys[i].name, STR_ARG(keys[i].value));
    bool good = !text.failed;
    if (good && text.len) {
        good = summed_file_create(&file, arena_format(arena, "%s/" BACKUP_KEYS_SETTINGS, folder).ptr) &&
               summed_file_write(&file, text.data, text.len);
        good = summed_file_finish(&file, good, &sum) && add(manifest, arena, BACKUP_KEYS_SETTINGS, &sum);
    }
    if (text.data)
        explicit_bzero(text.data, text.len);
    buf_free(&text);
    return good;
}

bool backup_keys_out(const struct settings *settings, const char *folder, struct arena *arena,
                     struct backup_manifest *manifest)
{
    manifest->keys.items = ARENA_NEW_ARRAY(arena, struct str, KEYS_MAX_FILES);
    if ((settings->database_url.len == 0 && !copy_key_files(settings->data_dir.ptr, folder, arena, manifest)) ||
        !write_settings(settings, folder, arena, manifest)) {
        fputs("tickettock: the keys cannot be copied.\n", stderr);
        return false;
    }
    if (manifest->keys.count == 0)
        fputs("tickettock: there are no keys to copy; run this with the settings of the server.\n", stderr);
    return manifest->keys.count > 0;
}

static const char *path_in(struct arena *arena, const char *folder, struct str name)
{
    return arena_format(arena, "%s/%.*s", folder, STR_ARG(name)).ptr;
}

bool backup_keys_may_enter(const struct settings *settings, const struct backup_manifest *manifest, struct arena *arena)
{
    for (size_t i = 0; i < manifest->keys.count; i++) {
        struct str name = manifest->keys.items[i];
        const struct copy_file *file = copy_find_file(&manifest->copy, name);
        const char *path = path_in(arena, settings->data_dir.ptr, name);
        struct file_sum sum;
        if (!file) { /* only of those that it lists with their sums is known that they are in its folder */
            fputs("tickettock: the backup lists a key that it does not have; nothing was done.\n", stderr);
            return false;
        }
        if (!is_key_file(name) || access(path, F_OK) != 0)
            continue;
        if (!summed_file_read(path, NULL, NULL, &sum) || !str_eq(str_from(sum.sha256), file->sha256)) {
            fprintf(stderr, "tickettock: %s is another key than the backup's. Move it away; nothing was done.\n", path);
            return false;
        }
    }
    return true;
}

bool backup_keys_in(const struct settings *settings, const struct backup_manifest *manifest, const char *folder,
                    const char *aside, struct arena *arena)
{
    for (size_t i = 0; i < manifest->keys.count; i++) {
        struct str name = manifest->keys.items[i];
        const char *path = path_in(arena, settings->data_dir.ptr, name), *new = path_in(arena, aside, name);
        struct file_sum sum;
        if (!is_key_file(name) || access(path, F_OK) == 0)
            continue;
        if (!summed_file_copy(path_in(arena, folder, name), new, &sum) || rename(new, path) != 0) {
            fprintf(stderr, "tickettock: cannot write %s: %s.\n", path, strerror(errno));
            return false;
        }
    }
    return true;
}
