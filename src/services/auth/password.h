/*
 * Passwords: bcrypt, cost 10, some 50 ms of work each. So hashing runs on the offload pool, never on a loop, and gives
 * way to the loops there. When many come at once they wait for each other, but not for long.
 */
#ifndef AUTH_PASSWORD_H
#define AUTH_PASSWORD_H

#include "base/str.h"
#include "task/offload.h"

enum {
    PASSWORD_MIN = 8,
    PASSWORD_MAX = 72, /* bytes: bcrypt sees no more */
    PASSWORD_HASH_SIZE = 64,
};

enum password_outcome {
    PASSWORD_RIGHT, /* or: hashed */
    PASSWORD_WRONG,
    PASSWORD_BUSY, /* too many wait, or it took too long: answer 503 */
};

/* From a task that has entered the pool, so that it can be turned away before it asks the database for the hash. An
 * empty hash (no such account, or one without a password) takes the same time and is wrong. */
__attribute__((warn_unused_result)) enum password_outcome password_check(struct offload *offload, struct str password,
                                                                         const char *hash);

/* From a task, which enters the pool here: PASSWORD_RIGHT with the hash, or PASSWORD_BUSY. */
__attribute__((warn_unused_result)) enum password_outcome password_hash(struct offload *offload, struct str password,
                                                                        char hash[PASSWORD_HASH_SIZE]);

/* The same on the calling thread, for the command line. False when there is no memory. */
__attribute__((warn_unused_result)) bool password_hash_now(struct str password, char hash[PASSWORD_HASH_SIZE]);

#endif
