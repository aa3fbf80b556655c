/*
 * What every request passes between the router and its handler: who is it, may they come that often, may they come at
 * all. gateway/chain.c has the steps in their order; each is a file of its own. One struct gateway per server;
 * command_serve.c owns it.
 */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include "gateway/keys.h"
#include "gateway/revoked.h"
#include "http/request.h"

struct gateway;

struct gateway_parts {
    const struct settings *settings;
    const struct token_keys *keys;
    struct coord *coord;
    struct revoked *revoked;
    size_t loops; /* how many the server has */
};

struct gateway *gateway_create(const struct gateway_parts *parts); /* NULL: no memory */
void gateway_destroy(struct gateway *gateway);                     /* when no loop runs any more */

/* On the request's task, before its handler. False: a filter has answered. */
bool gateway_admits(struct gateway *gateway, struct request *rq);

#endif
