#include "pii_settings.h"

#include "base/log.h"
#include "command_database.h"
#include "command_task.h"
#include "key_checks.h"
#include "schema.h"

enum { SERVICES_MAX = 8 };

struct opening {
    const struct settings *settings;
    struct {
        struct db *db;
        struct key_checks checks;
    } services[SERVICES_MAX];
    size_t count;
    struct pii *pii;
};

static bool run(struct opening *opening, size_t service, bool writes, db_unit *unit)
{
    struct key_checks *checks = &opening->services[service].checks;
    switch (command_run_unit(opening->services[service].db, writes, unit, checks)) {
    case DB_OK: return true;
    case DB_ROLLED_BACK: return false; /* it has said why */
    default:
        log_error("the database does not tell which keys it was sealed with. Is it up, and prepared by this version? "
                  "`tickettock migrate` prepares it",
                  LOG_C("database", checks->service));
        return false;
    }
}

static bool read_all(struct opening *opening, bool *are_in_use)
{
    *are_in_use = false;
    for (size_t i = 0; i < opening->count; i++) {
        const struct key_checks *checks = &opening->services[i].checks;
        if (!run(opening, i, false, key_checks_read))
            return false;
        *are_in_use |= checks->recorded_count > 0 || checks->used_count > 0;
    }
    return true;
}

static bool compare_all(struct opening *opening)
{
    bool fit = true;
    for (size_t i = 0; i < opening->count; i++) {
        opening->services[i].checks.pii = opening->pii;
        fit = run(opening, i, false, key_checks_compare) && fit;
    }
    return fit;
}

/* Only after all of them fit: a wrong key is recorded nowhere. */
static bool record_all(struct opening *opening)
{
    for (size_t i = 0; i < opening->count; i++)
        if (key_checks_differ(&opening->services[i].checks) && !run(opening, i, true, key_checks_record))
            return false;
    return true;
}

static void open_keys(void *argument)
{
    struct opening *opening = argument;
    const struct settings *settings = opening->settings;
    bool are_in_use;
    if (!read_all(opening, &are_in_use))
        return;
    opening->pii = pii_open(&(struct pii_settings){
        .keys = settings->pii_keys,
        .hash_key = settings->pii_hash_key,
        .directory = settings->database_url.len ? NULL : settings->data_dir.ptr,
        .are_in_use = are_in_use,
    });
    if (!opening->pii || (compare_all(opening) && record_all(opening)))
        return;
    pii_close(opening->pii);
    opening->pii = NULL;
}

static bool open_databases(struct opening *opening)
{
    for (const char *const *service = schema_services; *service; service++) {
        if (!command_has_database(opening->settings, *service))
            continue;
        struct db *db = command_open_database(opening->settings, *service);
        if (!db)
            return false;
        opening->services[opening->count].db = db;
        opening->services[opening->count++].checks.service = *service;
    }
    return true;
}

struct pii *pii_open_from(const struct settings *settings)
{
    struct opening opening = {.settings = settings};
    if (open_databases(&opening) && !command_run_task(open_keys, &opening))
        log_error("there is no memory to look at the keys");
    for (size_t i = 0; i < opening.count; i++)
        db_close(opening.services[i].db);
    return opening.pii;
}
