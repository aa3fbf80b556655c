/* What session.c needs of tokens beside what session.h shows. Any thread. */
#ifndef AUTH_TOKENS_H
#define AUTH_TOKENS_H

#include "services/auth/session.h"

/* SHA-256 in hexadecimal: a refresh token has 256 random bits, so no slower hash is needed. */
void token_hash(struct str token, char hash[TOKEN_HASH_TEXT]);

/* For a session that goes on; the caller fills in which. */
struct token_pair token_pair_next(const struct app *app);

#endif
