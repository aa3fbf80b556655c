/* `tickettock admin create|promote|remove EMAIL`: those who run the sale. */
#include "command_admin.h"

#include "command.h"
#include "command_accounts.h"
#include "gateway/jwt.h"
#include "services/auth/custody.h"

#include <stdio.h>

/* Never for an account that there is: a stranger may have registered the address before, and know its password. */
static int create(const struct account_errand *errand)
{
    char hash[PASSWORD_HASH_SIZE];
    struct account account;
    struct registration registration = {.email = errand->email,
                                        .name = errand->name,
                                        .role = errand->role,
                                        .email_verified = true};
    if (registration.name.len == 0) {
        struct str rest = errand->email;
        str_split(&rest, '@', &registration.name);
    }
    enum account_outcome outcome = custody_find(errand->app, errand->arena, errand->email, &account);
    if (outcome != ACCOUNT_UNKNOWN)
        return command_tell_account(errand, outcome == ACCOUNT_OK ? ACCOUNT_EMAIL_TAKEN : outcome, "");
    if (!command_new_password(hash))
        return EXIT_FAILED;
    registration.password_hash = str_from(hash);
    outcome = account_create(errand->app->accounts, errand->app->pii, errand->arena, &registration, &account);
    struct str done =
        arena_format(errand->arena, "has an account now, as %.*s.", STR_ARG(role_name(registration.role)));
    return command_tell_account(errand, outcome, done.ptr);
}

static int promote(const struct account_errand *errand)
{
    char hash[PASSWORD_HASH_SIZE];
    struct account account;
    struct str role = role_name(errand->role);
    enum account_outcome outcome = custody_find(errand->app, errand->arena, errand->email, &account);
    if (outcome != ACCOUNT_OK)
        return command_tell_account(errand, outcome, "");
    struct str question = arena_format(errand->arena,
                                       "%s (%s, now %.*s) becomes %.*s with a new password, which is then the only way "
                                       "in;\nwhoever is signed in with the account is signed out.",
                                       account.email, account.name, STR_ARG(role_name(account.role)), STR_ARG(role));
    if (!command_is_sure(errand, question.ptr))
        return EXIT_MISUSED;
    if (!command_new_password(hash))
        return EXIT_FAILED;
    outcome = custody_hand_over(errand->app, errand->arena, &account, str_from(hash), errand->role);
    struct str done =
        arena_format(errand->arena, "is %.*s now, with the new password; all its sessions have ended.", STR_ARG(role));
    return command_tell_account(errand, outcome, done.ptr);
}

static int take_role(const struct account_errand *errand)
{
    struct account account;
    enum account_outcome outcome = custody_find(errand->app, errand->arena, errand->email, &account);
    if (outcome == ACCOUNT_OK)
        outcome = custody_set_role(errand->app, errand->arena, &account, ROLE_USER);
    return command_tell_account(errand, outcome, "is USER now; all its sessions have ended.");
}

static const struct account_action actions[] = {
    {.name = "create", .takes_role = true, .takes_name = true, .run = create},
    {.name = "promote", .takes_role = true, .takes_yes = true, .run = promote},
    {.name = "remove", .run = take_role},
};

int command_admin(int argument_count, char **arguments)
{
    return command_on_account(argument_count, arguments, actions, sizeof(actions) / sizeof(actions[0]),
                              "tickettock: say `admin create EMAIL`, `admin promote EMAIL` or `admin remove EMAIL`; "
                              "`tickettock help admin` explains it.\n");
}
