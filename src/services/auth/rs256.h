/* RSA signatures over SHA-256 (RS256), as in Google's tokens. Any thread. */
#ifndef AUTH_RS256_H
#define AUTH_RS256_H

#include "base/str.h"

enum { RS256_MIN_BITS = 2048 };

struct rs256_key;

/* Modulus and exponent in base64url, as a JWKS has them. NULL: not a usable key. */
struct rs256_key *rs256_key_create(struct str modulus, struct str exponent);
/* Another owner of the same key; every owner frees it. */
struct rs256_key *rs256_key_share(struct rs256_key *key);
void rs256_key_free(struct rs256_key *key);

__attribute__((warn_unused_result)) bool rs256_verify(struct rs256_key *key, struct str text, struct str signature);

#endif
