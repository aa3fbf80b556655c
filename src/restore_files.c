#include "restore_files.h"

#include "backup_keys.h"
#include "db/folder_lock.h"
#include "schema.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct restoring {
    const struct settings *settings;
    const struct backup_manifest *manifest;
    const char *folder; /* the backup */
    const char *data;   /* DATA_DIR */
    const char *aside;  /* in DATA_DIR: where files are made ready; as long as it is there no server starts */
    struct arena *arena;
};

static bool refuse(const char *path, const char *what)
{
    fprintf(stderr, "tickettock: %s: %s\n", path, what);
    return false;
}

static const struct copy_service *services_of(const struct restoring *restoring, size_t *count)
{
    *count = restoring->manifest->copy.services.count;
    return restoring->manifest->copy.services.items;
}

static const char *path_of(const struct restoring *restoring, const char *folder, struct str service,
                           const char *suffix)
{
    return arena_format(restoring->arena, "%s/%.*s.db%s", folder, STR_ARG(service), suffix).ptr;
}

/* A log without its database is no less somebody's data. */
static bool is_free(const struct restoring *restoring, struct str service)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        const char *path = path_of(restoring, restoring->data, service, suffixes[i]);
        if (access(path, F_OK) == 0)
            return refuse(path, "there is a database already. Move it away, or restore into another DATA_DIR; nothing "
                                "was overwritten.");
    }
    return true;
}

static void clear_aside(const struct restoring *restoring)
{
    DIR *folder = opendir(restoring->aside);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlink(arena_format(restoring->arena, "%s/%s", restoring->aside, entry->d_name).ptr);
    if (folder)
        closedir(folder);
}

static bool make_aside(const struct restoring *restoring)
{
    clear_aside(restoring); /* of one that was cut off */
    if (mkdir(restoring->aside, 0700) != 0 && errno != EEXIST)
        return refuse(restoring->aside, strerror(errno));
    return summed_file_sync(restoring->data);
}

/* Copied, compared once more with the manifest, and brought to this version's schema: all that before it gets its name.
 */
static bool make_ready(const struct restoring *restoring, struct str service)
{
    struct file_sum sum;
    struct str name = arena_format(restoring->arena, "%.*s.db", STR_ARG(service));
    const struct copy_file *file = copy_find_file(&restoring->manifest->copy, name);
    const char *from = path_of(restoring, restoring->folder, service, "");
    const char *to = path_of(restoring, restoring->aside, service, "");
    if (!file)
        return refuse(from, "the manifest does not have it.");
    if (!summed_file_copy(from, to, &sum) || !str_eq(str_from(sum.sha256), file->sha256))
        return refuse(from, "it cannot be copied as it is in the manifest.");
    if (migrate_sqlite(migrations, arena_c_string(restoring->arena, service), restoring->aside) != MIGRATE_OK)
        return refuse(from, "it cannot be brought to this version.");
    if (access(path_of(restoring, restoring->aside, service, "-wal"), F_OK) == 0)
        return refuse(to, "its log was not written back.");
    return summed_file_sync(to);
}

static bool put_in_place(const struct restoring *restoring)
{
    size_t count;
    const struct copy_service *services = services_of(restoring, &count);
    if (!backup_keys_in(restoring->settings, restoring->manifest, restoring->folder, restoring->aside,
                        restoring->arena))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *path = path_of(restoring, restoring->data, services[i].name, "");
        if (rename(path_of(restoring, restoring->aside, services[i].name, ""), path) != 0)
            return refuse(path, strerror(errno));
    }
    if (!summed_file_sync(restoring->data))
        return false;
    clear_aside(restoring);
    return rmdir(restoring->aside) == 0 && summed_file_sync(restoring->data);
}

static bool restore_all(const struct restoring *restoring)
{
    size_t count;
    const struct copy_service *services = services_of(restoring, &count);
    for (size_t i = 0; i < count; i++)
        if (!is_free(restoring, services[i].name))
            return false;
    if (!backup_keys_may_enter(restoring->settings, restoring->manifest, restoring->arena) || !make_aside(restoring))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!make_ready(restoring, services[i].name))
            return false;
    return put_in_place(restoring);
}

/* A running server has the locks of the services; while we have them none can start. */
bool restore_files(const struct settings *settings, const struct backup_manifest *manifest, const char *folder,
                   struct arena *arena)
{
    struct restoring restoring = {
        .settings = settings,
        .manifest = manifest,
        .folder = folder,
        .data = settings->data_dir.ptr,
        .aside = arena_format(arena, "%s/" SCHEMA_RESTORE_FOLDER, settings->data_dir.ptr).ptr,
        .arena = arena,
    };
    int locks[COPY_SERVICES_MAX];
    size_t locked = 0;
    bool good = true;
    for (const char *const *service = schema_services; good && *service && locked < COPY_SERVICES_MAX; service++) {
        int lock = folder_lock(restoring.data, *service, 0);
        good = lock >= 0;
        if (good)
            locks[locked++] = lock;
    }
    good = good && restore_all(&restoring);
    while (locked)
        close(locks[--locked]);
    return good;
}
