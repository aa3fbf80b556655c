#include "schema.h"

#include "base/log.h"
#include "db/migrate.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { START_ATTEMPTS = 30 };

const char *const schema_services[] = {"reservation_service", "auth_service", NULL};

static bool make_folder(const char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return true;
    log_error("cannot create DATA_DIR", LOG_C("path", path), LOG_C("reason", strerror(errno)));
    return false;
}

/* What a restore that was cut off has left must not be taken for the data: a server would make what is missing anew. */
static bool restore_is_finished(const char *directory)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/" SCHEMA_RESTORE_FOLDER, directory);
    if ((size_t)length >= sizeof(path) || access(path, F_OK) != 0)
        return true;
    log_error("a backup is being restored into DATA_DIR, or that was cut off: run `tickettock restore` again",
              LOG_C("path", path));
    return false;
}

static bool migrate_files(const struct settings *settings)
{
    if (!make_folder(settings->data_dir.ptr) || !restore_is_finished(settings->data_dir.ptr))
        return false;
    for (const char *const *service = schema_services; *service; service++)
        if (migrate_sqlite(migrations, *service, settings->data_dir.ptr) != MIGRATE_OK)
            return false;
    return true;
}

/* The user in postgresql://user:password@host/…; false when there is none. */
static bool login_of(struct str url, char *out, size_t size)
{
    ptrdiff_t slashes = str_find_char(url, '/');
    struct str rest = str_from_offset(url, (size_t)slashes + 2);
    ptrdiff_t at = str_find_char(rest, '@');
    if (slashes < 0 || at < 0)
        return false;
    struct str user = str_first(rest, (size_t)at), name = user;
    str_split(&user, ':', &name);
    if (name.len == 0 || name.len >= size)
        return false;
    memcpy(out, name.ptr, name.len);
    out[name.len] = '\0';
    return true;
}

bool schema_migrate_server(const struct settings *settings, const struct migration *list)
{
    char login[64];
    bool by_admin = settings->database_admin_url.len > 0;
    const char *url = by_admin ? settings->database_admin_url.ptr : settings->database_url.ptr;
    bool named = by_admin && login_of(settings->database_url, login, sizeof(login));
    enum migrate_outcome outcome = migrate_postgres(list, schema_services, url, named ? login : NULL);
    if (outcome == MIGRATE_FORBIDDEN)
        log_error("this connection may not create roles and schemas; give DATABASE_ADMIN_URL to `tickettock migrate`");
    return outcome == MIGRATE_OK;
}

bool schema_migrate(const struct settings *settings)
{
    return settings->database_url.len ? schema_migrate_server(settings, migrations) : migrate_files(settings);
}

bool schema_prepare(const struct settings *settings)
{
    if (settings->database_url.len == 0)
        return migrate_files(settings);
    for (int attempt = 0; attempt < START_ATTEMPTS; attempt++) {
        switch (migrate_postgres_check(migrations, schema_services, settings->database_url.ptr)) {
        case MIGRATE_OK: return true;
        case MIGRATE_UNAVAILABLE: sleep(1); break;
        case MIGRATE_CHANGED: return false;
        case MIGRATE_FORBIDDEN:
        case MIGRATE_FAILED: return schema_migrate(settings);
        }
    }
    log_error("the database does not answer; is DATABASE_URL right?");
    return false;
}
