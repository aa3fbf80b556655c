#include "db/copy.h"

#include "base/log.h"
#include "db/migrate_internal.h"

#include <stdio.h>

struct copy copy_make(struct arena *arena)
{
    struct copy copy = {
        .services.items = ARENA_NEW_ARRAY(arena, struct copy_service, COPY_SERVICES_MAX),
        .files.items = ARENA_NEW_ARRAY(arena, struct copy_file, COPY_FILES_MAX),
    };
    return copy;
}

bool copy_add_file(struct copy *copy, struct arena *arena, const char *name, const struct file_sum *sum)
{
    struct copy_file *files = copy->files.items;
    if (copy->files.count == COPY_FILES_MAX) {
        log_error("more files than a backup can have", LOG_INT("files", COPY_FILES_MAX));
        return false;
    }
    files[copy->files.count++] = (struct copy_file){
        .name = arena_copy(arena, str_from(name)),
        .size = sum->size,
        .sha256 = arena_copy(arena, str_from(sum->sha256)),
    };
    return true;
}

const struct copy_file *copy_find_file(const struct copy *copy, struct str name)
{
    const struct copy_file *files = copy->files.items;
    for (size_t i = 0; i < copy->files.count; i++)
        if (str_eq(files[i].name, name))
            return &files[i];
    return NULL;
}

static const struct copy_service *find_service(const struct copy *copy, const char *name)
{
    const struct copy_service *services = copy->services.items;
    for (size_t i = 0; i < copy->services.count; i++)
        if (str_eq(services[i].name, str_from(name)))
            return &services[i];
    return NULL;
}

static bool migrations_fit(const struct copy_service *service, const struct migration *all, const char *name,
                           const char *dialect)
{
    struct migration_check check = {all, name, dialect, NULL};
    for (size_t i = 0; i < service->migrations.count; i++) {
        if (!migration_next(all, name, dialect, check.last)) {
            log_error("the backup is of a newer version; use that version's program, or a newer one",
                      LOG_C("service", name), LOG_INT("migrations", (int64_t)service->migrations.count),
                      LOG_INT("known", (int64_t)i));
            return false;
        }
        if (!migration_check_row(&check, (int64_t)i + 1, service->migrations.items[i]))
            return false;
    }
    return true;
}

bool copy_fits(const struct copy *copy, const struct migration *all, const char *const *services, const char *dialect)
{
    size_t known = 0;
    for (; *services; services++) {
        const struct copy_service *service = find_service(copy, *services);
        known += service != NULL;
        if (service && !migrations_fit(service, all, *services, dialect))
            return false;
    }
    if (known != copy->services.count || known == 0)
        log_error("the backup has services that this program does not know; use the version that made it, or a newer "
                  "one");
    return known == copy->services.count && known > 0;
}

const struct migration *copy_migrations(const struct copy *copy, const struct migration *all, const char *dialect,
                                        struct arena *arena)
{
    size_t count = 0, kept = 0;
    while (all[count].service)
        count++;
    struct migration *out = ARENA_NEW_ARRAY(arena, struct migration, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct copy_service *service = find_service(copy, all[i].service);
        if (service && strcmp(all[i].dialect, dialect) == 0 && all[i].number <= (int)service->migrations.count)
            out[kept++] = all[i];
    }
    return out;
}
