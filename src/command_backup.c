/* `tickettock backup DIR`: writes everything into a folder beside DIR, and gives it that name when it is whole. */
#include "command_backup.h"

#include "backup_keys.h"
#include "base/clock.h"
#include "command.h"
#include "command_config.h"
#include "command_database.h"
#include "pii_settings.h"
#include "schema.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 256 };

struct backup {
    const char *target;
    bool with_keys;
};

static bool refuse(const char *path, const char *reason)
{
    fprintf(stderr, "tickettock: cannot back up into %s: %s\n", path, reason);
    return false;
}

/* "a/b//" is "a/b". */
static const char *without_slashes(struct arena *arena, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return arena_c_string(arena, str_make(path, length));
}

static bool is_new_or_empty(const char *target)
{
    DIR *folder = opendir(target);
    size_t names = 0;
    if (!folder)
        return errno == ENOENT || refuse(target, strerror(errno));
    while (readdir(folder))
        names++;
    closedir(folder);
    return names <= 2 /* "." and ".." */ || refuse(target, "it is not empty; name a new folder.");
}

static bool copy_files(const struct settings *settings, const char *folder, struct arena *arena, struct copy *copy)
{
    /* Tickets before accounts: whoever has a seat in the one has an account in the other. */
    for (const char *const *service = schema_services; *service; service++) {
        if (!command_has_database(settings, *service))
            return refuse(folder, "there is no database in DATA_DIR.");
        if (!sqlite_copy_out(settings->data_dir.ptr, *service, folder, arena, copy))
            return false;
    }
    return true;
}

/* Keys that do not belong to the data would be found out when it is too late. */
static bool keys_fit(const struct settings *settings)
{
    struct pii *pii = pii_open_from(settings);
    if (pii)
        pii_close(pii);
    return pii != NULL;
}

static bool fill(const struct backup *backup, const struct settings *settings, const char *folder, struct arena *arena,
                 struct backup_manifest *manifest)
{
    char now[CLOCK_RFC3339_SIZE];
    bool server = settings->database_url.len > 0;
    clock_format_rfc3339(clock_wall_ms(), now);
    *manifest = (struct backup_manifest){
        .format = BACKUP_FORMAT,
        .program = str_from(TICKETTOCK_VERSION),
        .taken_at = arena_copy(arena, str_from(now)),
        .database = server ? STR("postgres") : STR("sqlite"),
        .copy = copy_make(arena),
    };
    return (server ? postgres_copy_out(settings->database_url.ptr, schema_services, folder, arena, &manifest->copy)
                   : copy_files(settings, folder, arena, &manifest->copy)) &&
           (!backup->with_keys || (keys_fit(settings) && backup_keys_out(settings, folder, arena, manifest))) &&
           backup_manifest_write(manifest, folder) && summed_file_sync(folder);
}

/* From here on it is a backup. */
static bool give_name(const char *folder, const char *target, struct arena *arena)
{
    char *parent = dirname((char *)arena_c_string(arena, str_from(target)));
    return (rename(folder, target) == 0 || refuse(target, strerror(errno))) && summed_file_sync(parent);
}

static void remove_folder(const char *path, struct arena *arena)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlink(arena_format(arena, "%s/%s", path, entry->d_name).ptr);
    if (folder)
        closedir(folder);
    rmdir(path);
}

static void tell(const struct backup_manifest *manifest, const char *target)
{
    const struct copy_file *files = manifest->copy.files.items;
    int64_t bytes = 0;
    for (size_t i = 0; i < manifest->copy.files.count; i++)
        bytes += files[i].size;
    printf("%s: %zu files with %lld bytes, as of %.*s.\n", target, manifest->copy.files.count, (long long)bytes,
           STR_ARG(manifest->taken_at));
    puts(manifest->keys.count
             ? "The keys are in it, so whoever has it can read people's data: guard it like them."
             : "The keys are not in it. Without them people's data cannot be read: keep them elsewhere.");
}

static int run(const struct settings *settings, struct arena *arena, void *context)
{
    const struct backup *backup = context;
    const char *target = without_slashes(arena, backup->target);
    char *folder = (char *)arena_format(arena, "%s.unfinished-XXXXXX", target).ptr;
    struct backup_manifest manifest;
    if (!is_new_or_empty(target))
        return EXIT_FAILED;
    if (!mkdtemp(folder)) /* with mode 0700 */
        return refuse(target, strerror(errno)), EXIT_FAILED;
    if (fill(backup, settings, folder, arena, &manifest) && give_name(folder, target, arena)) {
        tell(&manifest, target);
        return EXIT_FINE;
    }
    remove_folder(folder, arena);
    fputs("tickettock: there is no backup.\n", stderr);
    return EXIT_FAILED;
}

int command_backup(int argument_count, char **arguments)
{
    struct backup backup = {.target = argument_count > 0 ? arguments[0] : ""};
    char *settings[ARGUMENTS_MAX];
    int count = 0;
    for (int i = 1; i < argument_count && count < ARGUMENTS_MAX; i++) {
        if (strcmp(arguments[i], "--with-keys") == 0)
            backup.with_keys = true;
        else
            settings[count++] = arguments[i];
    }
    if (*backup.target && *backup.target != '-')
        return command_with_settings(count, settings, run, &backup);
    fputs("tickettock: say `backup DIR`, where DIR is a new folder; `tickettock help backup` explains it.\n", stderr);
    return EXIT_MISUSED;
}
