/* Every attempt to sign in, good or bad: who, when, from where, how, and why not. */
#ifndef AUTH_LOGIN_HISTORY_H
#define AUTH_LOGIN_HISTORY_H

#include "db/db.h"
#include "services/auth/visitor.h"

enum { LOGINS_SHOWN = 50 };

struct login_event {
    struct str user_id;    /* ptr NULL: nobody */
    struct str email_hash; /* that was tried; ptr NULL: not by e-mail */
    struct visitor visitor;
    struct str method;  /* "EMAIL", "GOOGLE" */
    const char *reason; /* NULL: it succeeded */
    int64_t at;
};

/* In a unit. */
bool login_history_add(struct tx *tx, const struct login_event *event);
/* In a unit: forgets from where an erased user came, but not that somebody did. */
bool login_history_wipe(struct tx *tx, struct str user_id);
/* In a unit: drops what is older, not more than thousands at once. */
bool login_history_sweep(struct tx *tx, int64_t before);

/* As the account's owner sees it: the newest first, as a JSON array. From a task. */
__attribute__((warn_unused_result)) enum db_outcome login_history_list(struct db *db, struct str user_id,
                                                                       struct buf *out);

#endif
