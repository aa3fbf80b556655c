/* Is this the password of that account? With everything that belongs to the question: slow guesses (throttle.h), the
 * history of those that failed, and nothing that tells whether there is such an account at all. From a task. */
#ifndef AUTH_CREDENTIALS_H
#define AUTH_CREDENTIALS_H

#include "services/auth/account.h"
#include "services/auth/visitor.h"

struct app;

enum credentials_outcome {
    CREDENTIALS_RIGHT, /* the caller's unit calls throttle_forgive */
    CREDENTIALS_WRONG,
    CREDENTIALS_THROTTLED, /* *wait_ms tells for how long */
    CREDENTIALS_BUSY,
    CREDENTIALS_UNAVAILABLE,
};

__attribute__((warn_unused_result)) enum credentials_outcome
credentials_check(const struct app *app, struct str email_hash, struct str password, const struct visitor *visitor,
                  struct account *account, int64_t *wait_ms);

#endif
