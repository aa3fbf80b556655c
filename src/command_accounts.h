/*
 * What the commands that change accounts have in common: `tickettock COMMAND ACTION EMAIL [FLAGS]`, beside running
 * servers, which hear of it at once where there is Redis, and within a second otherwise.
 */
#ifndef COMMAND_ACCOUNTS_H
#define COMMAND_ACCOUNTS_H

#include "services/app.h"
#include "services/auth/account.h"

struct account_errand {
    const struct app *app; /* with databases, keys of personal data and what tells the servers; nothing else */
    struct arena *arena;
    struct str email; /* normalized */
    struct str name;  /* --name; empty: none */
    enum role role;   /* --role; ADMIN by default */
    bool yes;         /* --yes: not to be asked */
};

struct account_action {
    const char *name;
    bool takes_name, takes_role, takes_yes;
    /* On a task. Gives what the program ends with. */
    int (*run)(const struct account_errand *errand);
};

/* Runs the action that the arguments name; with the usage on standard error when they name none. */
int command_on_account(int argument_count, char **arguments, const struct account_action *actions, size_t count,
                       const char *usage);

/* A bcrypt hash of the password that is asked for. False after telling why not. */
__attribute__((warn_unused_result)) bool command_new_password(char hash[PASSWORD_HASH_SIZE]);

/* True with --yes, or when somebody at the terminal says yes. False after telling that nothing was done. */
__attribute__((warn_unused_result)) bool command_is_sure(const struct account_errand *errand, const char *question);

/* Tells what came of it: `done` is the end of a sentence that begins with the e-mail. */
int command_tell_account(const struct account_errand *errand, enum account_outcome outcome, const char *done);

#endif
