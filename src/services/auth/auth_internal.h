/* What the files of the auth service share of struct auth. */
#ifndef AUTH_AUTH_INTERNAL_H
#define AUTH_AUTH_INTERNAL_H

#include "services/auth/auth.h"

struct google;

struct google *auth_google(struct auth *auth);

#endif
