/* Signing in: somebody has proved who they are, a session begins, and the history has a line. From a task. */
#ifndef AUTH_SIGNIN_H
#define AUTH_SIGNIN_H

#include "services/auth/session.h"

struct google_person;

/* In the order of the metric's label SIGNIN. */
enum signin_outcome {
    SIGNIN_DONE,
    SIGNIN_REFUSED,     /* wrong e-mail or password, or the account has just gone */
    SIGNIN_THROTTLED,   /* too many failures; wait_ms */
    SIGNIN_EMAIL_TAKEN, /* new with Google, but the e-mail has an account that does not give way (displace.h) */
    SIGNIN_BUSY,
    SIGNIN_UNAVAILABLE,
};

struct signin {
    struct visitor visitor; /* filled in by the caller, the rest by signing in */
    struct account account;
    struct token_pair pair;
    int64_t wait_ms;
};

__attribute__((warn_unused_result)) enum signin_outcome signin_with_password(const struct app *app, struct arena *arena,
                                                                             struct str email, struct str password,
                                                                             struct signin *signin);

/* Registers who comes for the first time. */
__attribute__((warn_unused_result)) enum signin_outcome signin_with_google(const struct app *app, struct arena *arena,
                                                                           const struct google_person *person,
                                                                           struct signin *signin);

/* A token that Google did not sign for us, or that is too old: nothing but a line of history. */
void signin_note_refused_google(const struct app *app, const struct visitor *visitor);

#endif
