#include "base/clock.h"
#include "base/log.h"
#include "db/adapter.h"
#include "db/migrate_internal.h"
#include "db/postgres_command.h"

#include <stdio.h>

struct migrator {
    struct postgres_command command;
    const struct migration *all;
};

static enum migrate_outcome failed(struct migrator *migrator, const char *what, const char *name)
{
    log_error(what, LOG_C("name", name), LOG_C("reason", migrator->command.reason));
    if (strcmp(migrator->command.state, "42501") == 0)
        return MIGRATE_FORBIDDEN;
    return PQstatus(migrator->command.handle) == CONNECTION_OK ? MIGRATE_FAILED : MIGRATE_UNAVAILABLE;
}

/* Roles belong to all databases of a server, so a migrator of another one may create it at the same time. */
static bool create_role(struct migrator *migrator, const char *quoted, const char *kind)
{
    return postgres_command_run(&migrator->command, "CREATE ROLE %s %s", quoted, kind) ||
           strcmp(migrator->command.state, "42710") == 0 || strcmp(migrator->command.state, "23505") == 0;
}

static const char role_exists[] = "SELECT 1 FROM pg_roles WHERE rolname = $1";
static const char schema_exists[] = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
static const char may_use_role[] = "SELECT 1 WHERE pg_has_role(current_user, $1, 'MEMBER')";
static const char superuser[] = "SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper AND $1::text <> ''";

/* Asks before it does, so that a connection without rights passes when nothing is missing. */
static enum migrate_outcome prepare_service(struct migrator *migrator, const char *service, const char *quoted_login,
                                            const char *login)
{
    if (!postgres_command_exists(&migrator->command, role_exists, service) &&
        !create_role(migrator, service, "NOLOGIN"))
        return failed(migrator, "cannot create the service's role", service);
    if (!postgres_command_exists(&migrator->command, superuser, service) &&
        !postgres_command_exists(&migrator->command, may_use_role, service) &&
        !postgres_command_run(&migrator->command, "GRANT %s TO CURRENT_USER", service))
        return failed(migrator, "cannot become the service's role", service);
    if (login) {
        const char *const names[] = {login, service};
        PGresult *result = PQexecParams(migrator->command.handle, "SELECT 1 WHERE pg_has_role($1, $2, 'MEMBER')", 2,
                                        NULL, names, NULL, NULL, 0);
        bool member = postgres_command_take(&migrator->command, result) && PQntuples(result) > 0;
        PQclear(result);
        if (!member && !postgres_command_run(&migrator->command, "GRANT %s TO %s", service, quoted_login))
            return failed(migrator, "cannot let the servers' role use the service's", service);
    }
    if (!postgres_command_exists(&migrator->command, schema_exists, service) &&
        !(postgres_command_run(&migrator->command, "CREATE SCHEMA %s AUTHORIZATION %s", service, service) &&
          postgres_command_run(&migrator->command, "REVOKE ALL ON SCHEMA %s FROM PUBLIC", service)))
        return failed(migrator, "cannot create the service's schema", service);
    return MIGRATE_OK;
}

static bool begin_as(struct migrator *migrator, const char *service)
{
    return postgres_command_run(&migrator->command, "BEGIN") && postgres_command_become(&migrator->command, service);
}

static enum migrate_outcome check_rows(struct migrator *migrator, struct migration_check *check)
{
    PGresult *result = PQexec(migrator->command.handle, "SELECT number, hash FROM schema_migrations ORDER BY number");
    enum migrate_outcome outcome = MIGRATE_OK;
    if (!postgres_command_take(&migrator->command, result))
        outcome = failed(migrator, "cannot read the history of migrations", check->service);
    for (int row = 0; outcome == MIGRATE_OK && row < PQntuples(result); row++) {
        int64_t number;
        if (!str_to_int64(str_from(PQgetvalue(result, row, 0)), &number) ||
            !migration_check_row(check, number, str_from(PQgetvalue(result, row, 1))))
            outcome = MIGRATE_CHANGED;
    }
    PQclear(result);
    return outcome;
}

static enum migrate_outcome check_history(struct migrator *migrator, struct migration_check *check)
{
    enum migrate_outcome outcome;
    if (!begin_as(migrator, check->service) ||
        !postgres_command_run(
            &migrator->command,
            "CREATE TABLE IF NOT EXISTS schema_migrations (number integer PRIMARY KEY, name text NOT NULL, "
            "hash text NOT NULL, applied_at bigint NOT NULL)"))
        outcome = failed(migrator, "cannot create the history of migrations", check->service);
    else
        outcome = check_rows(migrator, check);
    return postgres_command_run(&migrator->command, outcome == MIGRATE_OK ? "COMMIT" : "ROLLBACK")
               ? outcome
               : MIGRATE_UNAVAILABLE;
}

static bool run_script(struct migrator *migrator, struct str sql)
{
    struct arena arena;
    arena_init(&arena, sql.len + 64);
    PGresult *result = PQexec(migrator->command.handle, arena_c_string(&arena, sql));
    bool done = postgres_command_take(&migrator->command, result);
    PQclear(result);
    arena_free(&arena);
    return done;
}

static enum migrate_outcome apply(struct migrator *migrator, const struct migration *migration)
{
    char hash[MIGRATION_HASH];
    migration_hash(migration->sql, hash);
    bool done = begin_as(migrator, migration->service) && run_script(migrator, migration->sql);
    if (done && PQtransactionStatus(migrator->command.handle) != PQTRANS_INTRANS) {
        snprintf(migrator->command.reason, sizeof(migrator->command.reason),
                 "a migration must not end its transaction");
        done = false;
    }
    /* The script may have changed role or path. */
    done = done && postgres_command_run(&migrator->command, "SET LOCAL ROLE %s", migration->service) &&
           postgres_command_run(&migrator->command, "INSERT INTO %s.schema_migrations VALUES (%d, '%s', '%s', %lld)",
                                migration->service, migration->number, migration->name, hash,
                                (long long)clock_wall_ms()) &&
           postgres_command_run(&migrator->command, "COMMIT");
    if (done) {
        migration_log_applied(migration);
        return MIGRATE_OK;
    }
    migration_log_failed(migration, migrator->command.reason);
    bool connected = PQstatus(migrator->command.handle) == CONNECTION_OK;
    if (connected)
        postgres_command_run(&migrator->command, "ROLLBACK");
    return connected ? MIGRATE_FAILED : MIGRATE_UNAVAILABLE;
}

static enum migrate_outcome migrate_service(struct migrator *migrator, const char *service)
{
    struct migration_check check = {migrator->all, service, "postgres", NULL};
    enum migrate_outcome outcome = check_history(migrator, &check);
    const struct migration *next = check.last;
    while (outcome == MIGRATE_OK && (next = migration_next(migrator->all, service, "postgres", next)))
        outcome = apply(migrator, next);
    return outcome;
}

static enum migrate_outcome migrate_all(struct migrator *migrator, const char *const *services, const char *login)
{
    char *quoted_login = login ? PQescapeIdentifier(migrator->command.handle, login, strlen(login)) : NULL;
    enum migrate_outcome outcome = MIGRATE_OK;
    if (login && !postgres_command_exists(&migrator->command, role_exists, login) &&
        !create_role(migrator, quoted_login, "LOGIN"))
        outcome = failed(migrator, "cannot create the servers' role", login);
    for (; outcome == MIGRATE_OK && *services; services++) {
        outcome = prepare_service(migrator, *services, quoted_login, login);
        if (outcome == MIGRATE_OK)
            outcome = migrate_service(migrator, *services);
    }
    PQfreemem(quoted_login);
    return outcome;
}

static bool connect_to(struct migrator *migrator, const struct migration *all, const char *url)
{
    migrator->all = all;
    return postgres_command_open(&migrator->command, url, "tickettock migrate");
}

static bool names_are_sound(const char *const *services)
{
    for (; *services; services++)
        if (!db_service_name_is_sound(*services))
            return false;
    return true;
}

enum migrate_outcome migrate_postgres(const struct migration *all, const char *const *services, const char *admin_url,
                                      const char *login)
{
    if (!names_are_sound(services))
        return MIGRATE_FAILED;
    struct migrator migrator;
    enum migrate_outcome outcome = MIGRATE_UNAVAILABLE;
    if (connect_to(&migrator, all, admin_url)) {
        if (postgres_command_run(&migrator.command, "SELECT pg_advisory_lock(" MIGRATION_LOCK ")"))
            outcome = migrate_all(&migrator, services, login);
        else
            outcome = failed(&migrator, "cannot lock the database for migrating", "advisory lock");
    }
    postgres_command_close(&migrator.command);
    return outcome;
}

static enum migrate_outcome missing(const char *service, const char *what)
{
    log_info("the database is not ready for this program", LOG_C("service", service), LOG_C("missing", what));
    return MIGRATE_FORBIDDEN;
}

static enum migrate_outcome check_service(struct migrator *migrator, const char *service)
{
    struct migration_check check = {migrator->all, service, "postgres", NULL};
    if (!begin_as(migrator, service))
        return PQstatus(migrator->command.handle) == CONNECTION_OK ? missing(service, migrator->command.reason)
                                                                   : MIGRATE_UNAVAILABLE;
    if (!postgres_command_exists(&migrator->command,
                                 "SELECT 1 WHERE to_regclass($1 || '.schema_migrations') IS NOT NULL", service))
        return missing(service, "its schema");
    enum migrate_outcome outcome = check_rows(migrator, &check);
    const struct migration *next = migration_next(migrator->all, service, "postgres", check.last);
    return outcome == MIGRATE_OK && next ? missing(service, next->name) : outcome;
}

enum migrate_outcome migrate_postgres_check(const struct migration *all, const char *const *services, const char *url)
{
    if (!names_are_sound(services))
        return MIGRATE_FAILED;
    struct migrator migrator;
    enum migrate_outcome outcome = connect_to(&migrator, all, url) ? MIGRATE_OK : MIGRATE_UNAVAILABLE;
    for (; outcome == MIGRATE_OK && *services; services++) {
        outcome = check_service(&migrator, *services);
        postgres_command_run(&migrator.command, "ROLLBACK");
    }
    postgres_command_close(&migrator.command);
    return outcome;
}
