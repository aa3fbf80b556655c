#include "command_accounts.h"

#include "command.h"
#include "command_config.h"
#include "command_database.h"
#include "command_password.h"
#include "command_task.h"
#include "gateway/revoked.h"
#include "installation.h"
#include "pii_settings.h"
#include "redis_settings.h"
#include "schema.h"

#include <stdio.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 256, COORD_ENTRIES = 64, ANSWER_SIZE = 64 };

struct wish {
    const struct account_action *action;
    struct account_errand errand;
    char *settings[ARGUMENTS_MAX]; /* what was said about them */
    int setting_count;
    int result;
};

static bool read_role(const char *text, enum role *role)
{
    *role = str_ieq(str_from(text), STR("staff")) ? ROLE_STAFF : ROLE_ADMIN;
    return *role == ROLE_STAFF || str_ieq(str_from(text), STR("admin"));
}

static bool is_flag(const char *argument, bool taken, const char *flag)
{
    return taken && strcmp(argument, flag) == 0;
}

/* "ACTION EMAIL", then the action's own flags among those of settings. */
static bool read_wish(int argument_count, char **arguments, const struct account_action *actions, size_t count,
                      struct wish *wish)
{
    *wish = (struct wish){.errand.role = ROLE_ADMIN};
    if (argument_count < 2 || argument_count > ARGUMENTS_MAX || arguments[1][0] == '-')
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(arguments[0], actions[i].name) == 0)
            wish->action = &actions[i];
    if (!wish->action)
        return false;
    wish->errand.email = str_from(arguments[1]);
    for (int i = 2; i < argument_count; i++) {
        bool has_value = i + 1 < argument_count;
        if (is_flag(arguments[i], wish->action->takes_yes, "--yes")) {
            wish->errand.yes = true;
        } else if (has_value && is_flag(arguments[i], wish->action->takes_role, "--role")) {
            if (!read_role(arguments[++i], &wish->errand.role))
                return false;
        } else if (has_value && is_flag(arguments[i], wish->action->takes_name, "--name")) {
            wish->errand.name = str_trim(str_from(arguments[++i]));
        } else {
            wish->settings[wish->setting_count++] = arguments[i];
        }
    }
    return true;
}

/* An embedded server that is running has made the files and keeps their lock; where there are none yet, we make them.
 */
static bool prepare(const struct settings *settings)
{
    bool made = !settings->database_url.len && command_has_database(settings, "auth_service") &&
                command_has_database(settings, "reservation_service");
    return made || schema_prepare(settings);
}

static bool open_parts(struct app *app, struct arena *arena)
{
    const struct settings *settings = app->settings;
    char installation[INSTALLATION_ID_SIZE];
    if (!prepare(settings) || !(app->pii = pii_open_from(settings)) || !installation_read(settings, installation))
        return false;
    app->accounts = command_open_database(settings, "auth_service");
    app->reservations = app->accounts ? command_open_database(settings, "reservation_service") : NULL;
    app->coord = app->reservations ? redis_settings_open(settings, installation, COORD_ENTRIES, arena) : NULL;
    app->revoked = app->coord ? revoked_create(app->accounts, app->coord) : NULL;
    return app->revoked != NULL;
}

static void close_parts(struct app *app)
{
    if (app->revoked)
        revoked_destroy(app->revoked);
    if (app->coord)
        coord_close(app->coord);
    if (app->reservations)
        db_close(app->reservations);
    if (app->accounts)
        db_close(app->accounts);
    if (app->pii)
        pii_close(app->pii);
}

/* Nobody else is on this loop, so it may also wait for answers of the one at the terminal. */
static void work(void *argument)
{
    struct wish *wish = argument;
    wish->result = wish->action->run(&wish->errand);
    coord_close_loop(wish->errand.app->coord);
}

static int run(const struct settings *settings, struct arena *arena, void *context)
{
    struct wish *wish = context;
    struct account_errand *errand = &wish->errand;
    struct app app = {.settings = settings};
    struct str typed = errand->email;
    if (!email_normalize(arena, typed, &errand->email) || errand->name.len > ACCOUNT_NAME_MAX ||
        !str_is_utf8(errand->name)) {
        fprintf(stderr, "tickettock: the e-mail must be like name@example.com, and a name has at most %d bytes.\n",
                ACCOUNT_NAME_MAX);
        return EXIT_MISUSED;
    }
    errand->app = &app;
    errand->arena = arena;
    wish->result = EXIT_FAILED;
    if (open_parts(&app, arena) && !command_run_task(work, wish))
        wish->result = EXIT_FAILED;
    close_parts(&app);
    return wish->result;
}

int command_on_account(int argument_count, char **arguments, const struct account_action *actions, size_t count,
                       const char *usage)
{
    struct wish wish;
    if (read_wish(argument_count, arguments, actions, count, &wish))
        return command_with_settings(wish.setting_count, wish.settings, run, &wish);
    fputs(usage, stderr);
    return EXIT_MISUSED;
}

bool command_new_password(char hash[PASSWORD_HASH_SIZE])
{
    char password[COMMAND_PASSWORD_SIZE];
    bool ready = command_ask_password(password) && password_hash_now(str_from(password), hash);
    explicit_bzero(password, sizeof(password));
    return ready;
}

bool command_is_sure(const struct account_errand *errand, const char *question)
{
    char answer[ANSWER_SIZE] = "";
    if (errand->yes)
        return true;
    if (!isatty(STDIN_FILENO)) {
        fputs("tickettock: there is no terminal to ask whether you are sure; say --yes. Nothing was done.\n", stderr);
        return false;
    }
    fprintf(stderr, "%s\nType yes to go on: ", question);
    bool answered = fgets(answer, sizeof(answer), stdin) != NULL;
    answer[strcspn(answer, "\r\n")] = '\0';
    bool sure = answered && str_ieq(str_trim(str_from(answer)), STR("yes"));
    if (!sure)
        fputs("tickettock: nothing was done.\n", stderr);
    return sure;
}

int command_tell_account(const struct account_errand *errand, enum account_outcome outcome, const char *done)
{
    switch (outcome) {
    case ACCOUNT_OK: printf("%.*s %s\n", STR_ARG(errand->email), done); return EXIT_FINE;
    case ACCOUNT_EMAIL_TAKEN:
        fprintf(stderr,
                "tickettock: %.*s has an account already, which anybody may have made. If it shall have the role,\n"
                "`tickettock admin promote` gives it a new password first. Nothing was done.\n",
                STR_ARG(errand->email));
        return EXIT_FAILED;
    case ACCOUNT_UNKNOWN:
        fprintf(stderr, "tickettock: %.*s has no account. Nothing was done.\n", STR_ARG(errand->email));
        return EXIT_FAILED;
    default:
        fputs("tickettock: the database did not do it; nothing was changed. Is DATABASE_URL right, or was DATA_DIR\n"
              "made by another version? `tickettock migrate` prepares it.\n",
              stderr);
        return EXIT_FAILED;
    }
}
