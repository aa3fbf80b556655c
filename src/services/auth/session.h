/*
 * Sessions: what begins with a sign-in and ends with a sign-out. A session is a family of refresh tokens, of which the
 * newest can be used, once, for a new pair of tokens. A used one that comes again was stolen, from one of the two who
 * have it: the session ends. Only when it comes again at once, and nobody has used its successor yet, was the answer
 * lost on its way, or two windows asked at the same time: they get the same pair once more. Refresh tokens cannot be
 * guessed and are kept as a hash only.
 *
 * Ending a session also takes its access tokens back (gateway/revoked.h).
 */
#ifndef AUTH_SESSION_H
#define AUTH_SESSION_H

#include "base/uuid.h"
#include "services/auth/account.h"
#include "services/auth/visitor.h"

struct app;

enum { REFRESH_BYTES = 32, REFRESH_TEXT = 43, TOKEN_HASH_TEXT = 64, SESSIONS_SHOWN = 100, REFRESH_AGAIN_S = 30 };

/* A pair of tokens that is to be given out. */
struct token_pair {
    char session[UUID_TEXT], access_id[UUID_TEXT];
    char refresh[REFRESH_TEXT], refresh_hash[TOKEN_HASH_TEXT];
    int64_t now;               /* Unix ms */
    int64_t access_expires_at; /* Unix seconds, as in the token */
    int64_t expires_at;        /* of the refresh token, Unix ms */
};

/* For a session that begins: everything about it is new, whatever the client brought. */
struct token_pair token_pair_new(const struct app *app);

/* The access token, signed, in the arena; ptr NULL: this server has no key. */
struct str token_pair_sign(const struct app *app, struct arena *arena, const struct token_pair *pair,
                           const struct account *account);

/* In a unit. */
bool session_begin(struct tx *tx, const struct token_pair *pair, struct str user_id, struct str method,
                   const struct visitor *visitor);

/* In a unit: adds a pair to its session. */
bool session_add_tokens(struct tx *tx, const struct token_pair *pair);

enum refresh_outcome {
    REFRESH_DONE,
    REFRESH_UNKNOWN, /* no such token, or expired, or its session has ended */
    REFRESH_REUSED,  /* it was used before: the session has been ended now */
    REFRESH_UNAVAILABLE,
};

/* From a task. The token is used up whatever comes of it; for REFRESH_AGAIN_S it gives the same pair again, until the
 * new refresh token is used. */
__attribute__((warn_unused_result)) enum refresh_outcome session_refresh(const struct app *app, struct str token,
                                                                         const struct visitor *visitor,
                                                                         struct token_pair *pair,
                                                                         struct account *account);

/* Which sessions of a user shall end. */
struct session_choice {
    struct str user_id;
    struct str only;   /* this one; ptr NULL: all … */
    struct str except; /* … but this one; ptr NULL: really all */
};

/* Access tokens that a unit has taken back, to be told to the other servers after it. */
struct ended_tokens {
    struct buf list;
    size_t sessions; /* that were ended */
};
#define ENDED_TOKENS_INIT ((struct ended_tokens){.list = BUF_INIT(1 << 20)})

/* In a unit; from the start each time it runs. */
bool sessions_end(struct tx *tx, const struct session_choice *choice, int64_t now, struct ended_tokens *ended);
/* From a task, when the unit is done; frees the list. `done` false: it was not, so there is nothing to tell. */
void ended_tokens_announce(const struct app *app, struct ended_tokens *ended, bool done);

/* All in one, from a task; *count (may be NULL) tells how many have ended. */
__attribute__((warn_unused_result)) enum db_outcome
sessions_end_now(const struct app *app, const struct session_choice *choice, size_t *count);
/* The session of a refresh token, used or not; no such token is fine. */
__attribute__((warn_unused_result)) enum db_outcome session_end_by_token(const struct app *app, struct str token);

/* The living ones as a JSON array, the last used first; `current` is marked. From a task. */
__attribute__((warn_unused_result)) enum db_outcome sessions_list(struct db *db, struct str user_id, struct str current,
                                                                  struct buf *out);

/* When a living session of the user began, Unix ms; 0: there is no such session. From a task. */
__attribute__((warn_unused_result)) enum db_outcome session_begun_at(struct db *db, struct str user_id,
                                                                     struct str session, int64_t *begun_at);

/* In a unit: drops those that expired before, with their tokens, not more than thousands at once. */
bool sessions_sweep(struct tx *tx, int64_t before);
/* In a unit: forgets from where an erased user came. */
bool sessions_wipe(struct tx *tx, struct str user_id);

#endif
