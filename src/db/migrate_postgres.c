#include "base/clock.h"
#include "base/log.h"
#include "db/adapter.h"
#include "db/migrate_internal.h"

#include <libpq-fe.h>
#include <stdio.h>

/* Any number that nobody else is likely to use: one migrator at a time in a database. */
#define LOCK_NUMBER "7164953180423967001"

struct migrator {
    PGconn *handle;
    const struct migration *all;
    char state[6];    /* SQLSTATE of the last failure, or empty */
    char reason[512]; /* and its words */
};

static bool take_result(struct migrator *migrator, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    bool done = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY;
    migrator->state[0] = migrator->reason[0] = '\0';
    if (!done) {
        const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const char *reason = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        snprintf(migrator->state, sizeof(migrator->state), "%s", state ? state : "");
        snprintf(migrator->reason, sizeof(migrator->reason), "%s", reason ? reason : PQerrorMessage(migrator->handle));
    }
    return done;
}

/* Names that go into the text have been checked (db_service_name_is_sound) or are quoted. */
__attribute__((format(printf, 2, 3))) static bool run(struct migrator *migrator, const char *format, ...)
{
    char sql[1024];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(sql, sizeof(sql), format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(sql))
        return false;
    PGresult *result = PQexec(migrator->handle, sql);
    bool done = take_result(migrator, result);
    PQclear(result);
    return done;
}

/* True when the query with $1 = value gives a row. */
static bool exists(struct migrator *migrator, const char *query, const char *value)
{
    PGresult *result = PQexecParams(migrator->handle, query, 1, NULL, &value, NULL, NULL, 0);
    bool found = take_result(migrator, result) && PQntuples(result) > 0;
    PQclear(result);
    return found;
}

static enum migrate_outcome failed(struct migrator *migrator, const char *what, const char *name)
{
    log_error(what, LOG_C("name", name), LOG_C("reason", migrator->reason));
    if (strcmp(migrator->state, "42501") == 0)
        return MIGRATE_FORBIDDEN;
    return PQstatus(migrator->handle) == CONNECTION_OK ? MIGRATE_FAILED : MIGRATE_UNAVAILABLE;
}

/* Roles belong to all databases of a server, so a migrator of another one may create it at the same time. */
static bool create_role(struct migrator *migrator, const char *quoted, const char *kind)
{
    return run(migrator, "CREATE ROLE %s %s", quoted, kind) || strcmp(migrator->state, "42710") == 0 ||
           strcmp(migrator->state, "23505") == 0;
}

static const char role_exists[] = "SELECT 1 FROM pg_roles WHERE rolname = $1";
static const char schema_exists[] = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
static const char may_use_role[] = "SELECT 1 WHERE pg_has_role(current_user, $1, 'MEMBER')";
static const char superuser[] = "SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper AND $1::text <> ''";

/* Asks before it does, so that a connection without rights passes when nothing is missing. */
static enum migrate_outcome prepare_service(struct migrator *migrator, const char *service, const char *quoted_login,
                                            const char *login)
{
    if (!exists(migrator, role_exists, service) && !create_role(migrator, service, "NOLOGIN"))
        return failed(migrator, "cannot create the service's role", service);
    if (!exists(migrator, superuser, service) && !exists(migrator, may_use_role, service) &&
        !run(migrator, "GRANT %s TO CURRENT_USER", service))
        return failed(migrator, "cannot become the service's role", service);
    if (login) {
        const char *const names[] = {login, service};
        PGresult *result = PQexecParams(migrator->handle, "SELECT 1 WHERE pg_has_role($1, $2, 'MEMBER')", 2, NULL,
                                        names, NULL, NULL, 0);
        bool member = take_result(migrator, result) && PQntuples(result) > 0;
        PQclear(result);
        if (!member && !run(migrator, "GRANT %s TO %s", service, quoted_login))
            return failed(migrator, "cannot let the servers' role use the service's", service);
    }
    if (!exists(migrator, schema_exists, service) &&
        !(run(migrator, "CREATE SCHEMA %s AUTHORIZATION %s", service, service) &&
          run(migrator, "REVOKE ALL ON SCHEMA %s FROM PUBLIC", service)))
        return failed(migrator, "cannot create the service's schema", service);
    return MIGRATE_OK;
}

static bool begin_as(struct migrator *migrator, const char *service)
{
    return run(migrator, "BEGIN; SET LOCAL ROLE %s; SET LOCAL search_path = %s", service, service);
}

static enum migrate_outcome check_rows(struct migrator *migrator, struct migration_check *check)
{
    PGresult *result = PQexec(migrator->handle, "SELECT number, hash FROM schema_migrations ORDER BY number");
    enum migrate_outcome outcome = MIGRATE_OK;
    if (!take_result(migrator, result))
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
        !run(migrator, "CREATE TABLE IF NOT EXISTS schema_migrations (number integer PRIMARY KEY, name text NOT NULL, "
                       "hash text NOT NULL, applied_at bigint NOT NULL)"))
        outcome = failed(migrator, "cannot create the history of migrations", check->service);
    else
        outcome = check_rows(migrator, check);
    return run(migrator, outcome == MIGRATE_OK ? "COMMIT" : "ROLLBACK") ? outcome : MIGRATE_UNAVAILABLE;
}

static bool run_script(struct migrator *migrator, struct str sql)
{
    struct arena arena;
    arena_init(&arena, sql.len + 64);
    PGresult *result = PQexec(migrator->handle, arena_c_string(&arena, sql));
    bool done = take_result(migrator, result);
    PQclear(result);
    arena_free(&arena);
    return done;
}

static enum migrate_outcome apply(struct migrator *migrator, const struct migration *migration)
{
    char hash[MIGRATION_HASH];
    migration_hash(migration->sql, hash);
    bool done = begin_as(migrator, migration->service) && run_script(migrator, migration->sql);
    if (done && PQtransactionStatus(migrator->handle) != PQTRANS_INTRANS) {
        snprintf(migrator->reason, sizeof(migrator->reason), "a migration must not end its transaction");
        done = false;
    }
    /* The script may have changed role or path. */
    done = done && run(migrator, "SET LOCAL ROLE %s", migration->service) &&
           run(migrator, "INSERT INTO %s.schema_migrations VALUES (%d, '%s', '%s', %lld)", migration->service,
               migration->number, migration->name, hash, (long long)clock_wall_ms()) &&
           run(migrator, "COMMIT");
    if (done) {
        migration_log_applied(migration);
        return MIGRATE_OK;
    }
    migration_log_failed(migration, migrator->reason);
    bool connected = PQstatus(migrator->handle) == CONNECTION_OK;
    if (connected)
        run(migrator, "ROLLBACK");
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
    char *quoted_login = login ? PQescapeIdentifier(migrator->handle, login, strlen(login)) : NULL;
    enum migrate_outcome outcome = MIGRATE_OK;
    if (login && !exists(migrator, role_exists, login) && !create_role(migrator, quoted_login, "LOGIN"))
        outcome = failed(migrator, "cannot create the servers' role", login);
    for (; outcome == MIGRATE_OK && *services; services++) {
        outcome = prepare_service(migrator, *services, quoted_login, login);
        if (outcome == MIGRATE_OK)
            outcome = migrate_service(migrator, *services);
    }
    PQfreemem(quoted_login);
    return outcome;
}

static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

static bool connect_to(struct migrator *migrator, const struct migration *all, const char *url)
{
    *migrator = (struct migrator){.all = all};
    const char *const keys[] = {"dbname", "connect_timeout", "client_encoding", "fallback_application_name", NULL};
    const char *const values[] = {url, "5", "UTF8", "tickettock migrate", NULL};
    migrator->handle = PQconnectdbParams(keys, values, 1);
    PQsetNoticeReceiver(migrator->handle, ignore_notice, NULL);
    if (PQstatus(migrator->handle) == CONNECTION_OK)
        return true;
    log_error("cannot connect to the database", LOG_C("reason", PQerrorMessage(migrator->handle)));
    return false;
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
        if (run(&migrator, "SELECT pg_advisory_lock(" LOCK_NUMBER ")"))
            outcome = migrate_all(&migrator, services, login);
        else
            outcome = failed(&migrator, "cannot lock the database for migrating", "advisory lock");
    }
    PQfinish(migrator.handle);
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
        return PQstatus(migrator->handle) == CONNECTION_OK ? missing(service, migrator->reason) : MIGRATE_UNAVAILABLE;
    if (!exists(migrator, "SELECT 1 WHERE to_regclass($1 || '.schema_migrations') IS NOT NULL", service))
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
        run(&migrator, "ROLLBACK");
    }
    PQfinish(migrator.handle);
    return outcome;
}
