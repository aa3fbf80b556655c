/*
 * The auth service: who has an account, and who is signed in. This header is what others may use. One struct auth per
 * server; command_serve.c owns it.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "http/router.h"

struct app;
struct auth;

extern const struct route auth_routes[];
extern const size_t auth_route_count;

/* NULL when there is no memory. */
struct auth *auth_create(const struct app *app);
/* When no loop runs any more, before the database closes. */
void auth_destroy(struct auth *auth);

/* On each loop. */
void auth_loop_started(struct auth *auth, size_t index);
void auth_loop_stopping(struct auth *auth, size_t index);

#endif
