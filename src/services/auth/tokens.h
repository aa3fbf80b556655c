/* What session.c needs of tokens beside what session.h shows. Any thread. */
#ifndef AUTH_TOKENS_H
#define AUTH_TOKENS_H

#include "services/auth/session.h"

/* SHA-256 in hexadecimal: a refresh token has 256 random bits, so no slower hash is needed. */
void token_hash(struct str token, char hash[TOKEN_HASH_TEXT]);

/* For a session that goes on; the caller fills in which. The refresh token follows from the one that is used up, by a
 * key that only servers have: so each server of a fleet, also after a restart, can give the same one again, though no
 * token is kept anywhere. `used` has REFRESH_TEXT bytes. */
struct token_pair token_pair_after(const struct app *app, struct str used);

#endif
