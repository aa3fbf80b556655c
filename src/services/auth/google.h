/*
 * Signing in with Google: a browser brings an ID token that Google has signed for us (RS256). It is believed when the
 * signature, the issuer, the audience (our client id), the times and the verified e-mail are right, and it answers the
 * question of this browser. Tasks of all loops.
 *
 * The question: before somebody leaves for Google's page, the server gives them a secret in a cookie, and a hash of it,
 * the nonce, to take along. Google signs the nonce into the token. So a token that was seen on its way (in an
 * address, a log, another site) signs in nobody who does not have the cookie. Servers keep nothing.
 */
#ifndef AUTH_GOOGLE_H
#define AUTH_GOOGLE_H

#include "base/arena.h"
#include "services/auth/jwks.h"

struct google;

/* In the request's arena. */
struct google_person {
    struct str subject; /* Google's number for the person; the only thing that never changes */
    struct str email;   /* normalized */
    struct str name;
};

enum { GOOGLE_SECRET_TEXT = 43, GOOGLE_NONCE_TEXT = 64 };

enum google_outcome {
    GOOGLE_OK,
    GOOGLE_INVALID,     /* forged, expired, for somebody else, without a verified e-mail, to another question … */
    GOOGLE_OFF,         /* there is no client id: nobody signs in with Google here */
    GOOGLE_UNAVAILABLE, /* Google's keys could not be fetched */
};

/* `client_id` may be empty. The strings outlive it. NULL: no memory. */
struct google *google_create(struct str client_id, struct str jwks_url);
void google_destroy(struct google *google);
void google_close_loop(struct google *google);

bool google_is_on(const struct google *google);

/* A question that nobody has asked before. Any thread. */
void google_ask(char secret[GOOGLE_SECRET_TEXT], char nonce[GOOGLE_NONCE_TEXT]);

/* `secret` is what the browser has brought, or ptr NULL. */
__attribute__((warn_unused_result)) enum google_outcome google_verify(struct google *google, struct arena *arena,
                                                                      struct str credential, struct str secret,
                                                                      struct google_person *person);

#endif
