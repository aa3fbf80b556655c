/* What a handler finds in rq->app: the parts of this server. Made by command_serve.c, which owns all of it. */
#ifndef SERVICES_APP_H
#define SERVICES_APP_H

#include "http/request.h"

struct app {
    const struct settings *settings;
    struct db *reservations; /* the ticket service's data */
    struct db *accounts;     /* the auth service's data */
    struct coord *coord;
    struct pii *pii; /* encrypts personal data */
    struct server *server;
    struct router *router;
    struct ticket *ticket;
    struct token_keys *keys; /* gateway/keys.h */
    struct revoked *revoked; /* gateway/revoked.h */
    struct offload *offload; /* threads for hashing passwords */
    struct auth *auth;
    struct gateway *gateway;       /* gateway/gateway.h */
    struct neighbours *neighbours; /* services/system/neighbours.h; NULL where there can be none, or Redis is there */
};

static inline struct app *app_of(const struct request *rq)
{
    return rq->app;
}

#endif
