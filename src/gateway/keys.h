/*
 * The keys with which tokens are signed and believed. Read once at start; then only read, by any thread. The strings
 * live in the arena that was given, as long as the server.
 *
 *     jwt_sign(arena, keys->access, &(struct jwt_claims){.issuer = keys->issuer, .audience = keys->audience, …})
 *
 * Several servers need the same keys, which they cannot make up: with DATABASE_URL and without JWT_SECRET `access` is
 * empty, nobody can sign in, and no token is believed.
 */
#ifndef GATEWAY_KEYS_H
#define GATEWAY_KEYS_H

#include "base/arena.h"
#include "tables/config.h"

struct token_keys {
    struct str access;           /* of access tokens; empty: there is no signing in */
    struct str issuer, audience; /* that access tokens must name */
    struct str entry;            /* of the waiting room's entry tokens; empty: none is believed */
    struct str guest;            /* of guests' cookies; empty: none is believed */
};

/* From the settings, or, with the built-in database, from files in DATA_DIR that are made once; `guest` is derived from
 * another key by the caller. NULL with a logged reason when such a file cannot be used. */
struct token_keys *token_keys_read(const struct settings *settings, struct str guest, struct arena *arena);

#endif
