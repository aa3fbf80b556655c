/*
 * Guests: buyers without an account. A guest is a random id that the server has made up and signed; the browser keeps
 * it in a cookie that no script reads. The server keeps nothing: a signature that is right is the proof, at every
 * server of a fleet. The id begins with "guest:", as no account's does, and as no header may.
 *
 * The cookie: "1.<22 characters>.<signature>". 1 is the version of this format; the signature is an HMAC-SHA256 over
 * what stands before it. Any thread.
 */
#ifndef GATEWAY_GUEST_H
#define GATEWAY_GUEST_H

#include "base/arena.h"
#include "http/request.h"

/* Is this the id of a guest? */
bool guest_is_id(struct str user_id);

/* The id of a guest who was not there before. */
struct str guest_new(struct arena *arena);

/* What the cookie says for that guest. */
struct str guest_sign(struct arena *arena, struct str key, struct str id);

/* The guest whom the cookie names; empty: none, or not one of ours. */
struct str guest_read(struct arena *arena, struct str key, struct str cookie);

/* The same of a request's cookie. */
struct str guest_of(struct request *rq, struct str key);

#endif
