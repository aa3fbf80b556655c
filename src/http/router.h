/*
 * Routes stand in tables, one per service; the router is built from them once,
 * at start, and only read afterwards. A row says everything about its route: the
 * OpenAPI comparison, metrics labels, access and limits come from it too.
 */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H

#include "http/head.h"
#include "http/request.h"

enum route_access {
    ACCESS_PUBLIC,
    ACCESS_USER,     /* somebody signed in */
    ACCESS_STAFF,    /* staff or admin */
    ACCESS_ADMIN,    /* role admin, or the operator's token */
    ACCESS_INTERNAL, /* other services, through the internal listener only */
};

/* How often a caller may come, by the settings RATE_LIMIT_…. */
enum route_rate {
    RATE_GENERAL,
    RATE_AUTH,
    RATE_QUEUE,
    RATE_BOOKING,
    RATE_FCFS,
    RATE_GUESTS, /* new guests; who is one already counts as RATE_GENERAL */
    RATE_EXEMPT,
};

enum route_kind {
    ROUTE_API,  /* described in the OpenAPI document */
    ROUTE_PAGE, /* for people: not in the OpenAPI document */
};

/* The column `query`: ROUTE_QUERY("scheduleId", "format"). */
#define ROUTE_QUERY(...) ((const char *const[]){__VA_ARGS__, NULL})

struct route {
    enum http_method method;
    const char *path; /* "/api/v1/seats/{id}"; a last segment "{*}" takes the rest of the path */
    void (*handle)(struct request *rq);
    enum route_kind kind;
    enum route_access access;
    enum route_rate rate;
    bool entry_token;         /* asks for the waiting room's token while the schedule's room is active */
    bool immediate;           /* never waits, so it needs no task: answered also when there is none left */
    bool reserved;            /* answered also to those who come when all connections are taken */
    size_t body_limit;        /* bytes; 0: takes no body */
    const char *const *query; /* names of the parameters that it takes, then NULL; NULL: none. A route that changes
                                 something refuses others. */
    size_t index;             /* given by the router: a small number for metrics */
};

struct router;

struct router *router_create(void);
void router_destroy(struct router *router);

/* Adds rows (each is copied). Two rows for one method and path, a bad path, or ACCESS_INTERNAL anywhere but under
 * /internal/ (and another access there), are programming errors and stop the program. */
void router_add(struct router *router, const struct route *routes, size_t count);

size_t router_count(const struct router *router);
const struct route *router_route(const struct router *router, size_t index);

struct route_match {
    const struct route *route;           /* NULL: no such path, or not with this method */
    bool internal;                       /* the path is for other services only, with every method */
    unsigned methods;                    /* bit per method that the path takes: for 405 and OPTIONS; 0: no such path */
    struct str params[ROUTE_PARAMS_MAX]; /* still percent-encoded */
    size_t param_count;
};

/* "/api/x" is the same as "/api/v1/x". HEAD finds GET's route where it has none of its own. */
struct route_match router_match(const struct router *router, enum http_method method, struct str path);

/* Every method that some path takes, as bits: of those for other services, or of all others. */
unsigned router_methods(const struct router *router, bool internal);

#endif
