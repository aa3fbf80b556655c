/* `tickettock account reset|erase EMAIL`: for people who cannot help themselves. */
#include "command_account.h"

#include "command.h"
#include "command_accounts.h"
#include "services/auth/custody.h"
#include "services/auth/erasure.h"

static int reset(const struct account_errand *errand)
{
    char hash[PASSWORD_HASH_SIZE];
    struct account account;
    enum account_outcome outcome = custody_find(errand->app, errand->arena, errand->email, &account);
    if (outcome != ACCOUNT_OK)
        return command_tell_account(errand, outcome, "");
    if (!command_new_password(hash))
        return EXIT_FAILED;
    outcome = custody_hand_over(errand->app, errand->arena, &account, str_from(hash), ROLE_ANONYMOUS);
    return command_tell_account(errand, outcome,
                                "has the new password, and no other way in; all its sessions have ended.");
}

static int erase(const struct account_errand *errand)
{
    struct account account;
    enum account_outcome outcome = custody_find(errand->app, errand->arena, errand->email, &account);
    if (outcome != ACCOUNT_OK)
        return command_tell_account(errand, outcome, "");
    struct str question = arena_format(errand->arena,
                                       "The account of %s (%s) is erased for good: e-mail, name, phone, password, and "
                                       "every session.\nIts seats stay taken.",
                                       account.email, account.name);
    if (!command_is_sure(errand, question.ptr))
        return EXIT_MISUSED;
    return command_tell_account(errand, account_erase_now(errand->app, &account, errand->arena), "is erased.");
}

static const struct account_action actions[] = {
    {.name = "reset", .run = reset},
    {.name = "erase", .takes_yes = true, .run = erase},
};

int command_account(int argument_count, char **arguments)
{
    return command_on_account(argument_count, arguments, actions, sizeof(actions) / sizeof(actions[0]),
                              "tickettock: say `account reset EMAIL` or `account erase EMAIL`; "
                              "`tickettock help account` explains it.\n");
}
