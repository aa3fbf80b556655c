/* `tickettock admin create EMAIL`: accounts for those who run the sale. */
#include "command_admin.h"

#include "command.h"
#include "command_config.h"
#include "command_password.h"
#include "command_task.h"
#include "gateway/jwt.h"
#include "pii_settings.h"
#include "schema.h"
#include "services/auth/account.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum { CONNECTIONS = 2, QUEUE = 16, STATEMENT_TIMEOUT_MS = 5000, ARGUMENTS_MAX = 256 };

struct wish {
    struct str email, name;
    enum role role;
    char *settings[ARGUMENTS_MAX]; /* what was said about them */
    int setting_count;
};

static bool read_role(const char *text, enum role *role)
{
    *role = str_ieq(str_from(text), STR("staff")) ? ROLE_STAFF : ROLE_ADMIN;
    return *role == ROLE_STAFF || str_ieq(str_from(text), STR("admin"));
}

/* "create EMAIL", then the command's own flags among those of settings. */
static bool read_wish(int argument_count, char **arguments, struct wish *wish)
{
    *wish = (struct wish){.role = ROLE_ADMIN};
    if (argument_count < 2 || argument_count > ARGUMENTS_MAX || strcmp(arguments[0], "create") != 0 ||
        arguments[1][0] == '-')
        return false;
    wish->email = str_from(arguments[1]);
    for (int i = 2; i < argument_count; i++) {
        bool has_value = i + 1 < argument_count;
        if (has_value && strcmp(arguments[i], "--role") == 0) {
            if (!read_role(arguments[++i], &wish->role))
                return false;
        } else if (has_value && strcmp(arguments[i], "--name") == 0) {
            wish->name = str_trim(str_from(arguments[++i]));
        } else {
            wish->settings[wish->setting_count++] = arguments[i];
        }
    }
    return true;
}

/* A server that is running has made the file and keeps its lock; where there is none yet, we make it. */
static bool prepare(const struct settings *settings)
{
    char path[PATH_MAX];
    if (settings->database_url.len)
        return schema_prepare(settings);
    int length = snprintf(path, sizeof(path), "%s/auth_service.db", settings->data_dir.ptr);
    return (size_t)length < sizeof(path) && (access(path, F_OK) == 0 || schema_prepare(settings));
}

struct work {
    struct db *db;
    const struct pii *pii;
    struct arena *arena;
    struct registration registration;
    enum account_outcome outcome;
};

static void promote(void *argument)
{
    struct work *work = argument;
    struct str email_hash = account_email_hash(work->pii, work->arena, work->registration.email);
    work->outcome = account_promote(work->db, email_hash, work->registration.role);
}

static void create(void *argument)
{
    struct work *work = argument;
    struct account account;
    work->outcome = account_create(work->db, work->pii, work->arena, &work->registration, &account);
}

static int tell(const struct work *work, const char *what)
{
    if (work->outcome == ACCOUNT_OK) {
        printf("%.*s %s %.*s.\n", STR_ARG(work->registration.email), what, STR_ARG(role_name(work->registration.role)));
        return EXIT_FINE;
    }
    fputs(work->outcome == ACCOUNT_EMAIL_TAKEN
              ? "tickettock: somebody has just registered with this e-mail; run this again.\n"
              : "tickettock: the database did not do it; nothing was changed. Is DATABASE_URL right, or was DATA_DIR\n"
                "made by another version? `tickettock migrate` prepares it.\n",
          stderr);
    return EXIT_FAILED;
}

static int make_account(struct work *work)
{
    char password[COMMAND_PASSWORD_SIZE], hash[PASSWORD_HASH_SIZE];
    bool ready = command_ask_password(password) && password_hash_now(str_from(password), hash);
    explicit_bzero(password, sizeof(password));
    if (!ready)
        return EXIT_FAILED;
    work->registration.password_hash = str_from(hash);
    return command_run_task(create, work) ? tell(work, "has an account now, as") : EXIT_FAILED;
}

static int promote_or_create(struct work *work)
{
    if (!command_run_task(promote, work))
        return EXIT_FAILED;
    if (work->outcome == ACCOUNT_UNKNOWN)
        return make_account(work);
    return tell(work, "had an account, keeps the password, and is now");
}

static int run(const struct settings *settings, struct arena *arena, void *context)
{
    const struct wish *wish = context;
    struct work work = {.arena = arena, .registration = {.role = wish->role, .name = wish->name}};
    if (!email_normalize(arena, wish->email, &work.registration.email) || wish->name.len > ACCOUNT_NAME_MAX ||
        !str_is_utf8(wish->name)) {
        fprintf(stderr, "tickettock: the e-mail must be like name@example.com, and a name has at most %d bytes.\n",
                ACCOUNT_NAME_MAX);
        return EXIT_MISUSED;
    }
    if (wish->name.len == 0) {
        struct str rest = work.registration.email;
        str_split(&rest, '@', &work.registration.name);
    }
    int result = EXIT_FAILED;
    struct pii *pii = prepare(settings) ? pii_open_from(settings) : NULL;
    work.pii = pii;
    work.db = pii ? db_open(&(struct db_settings){
                        .service = "auth_service",
                        .url = settings->database_url.len ? settings->database_url.ptr : NULL,
                        .directory = settings->data_dir.ptr,
                        .connections = CONNECTIONS,
                        .max_waiting = QUEUE,
                        .statement_timeout_ms = STATEMENT_TIMEOUT_MS,
                        .guest = true,
                    })
                  : NULL;
    if (work.db) {
        result = promote_or_create(&work);
        db_close(work.db);
    }
    if (pii)
        pii_close(pii);
    return result;
}

int command_admin(int argument_count, char **arguments)
{
    struct wish wish;
    if (read_wish(argument_count, arguments, &wish))
        return command_with_settings(wish.setting_count, wish.settings, run, &wish);
    fputs("tickettock: say `admin create EMAIL`, perhaps with --role admin|staff or --name NAME; "
          "`tickettock help admin` explains it.\n",
          stderr);
    return EXIT_MISUSED;
}
