/*
 * One connection to Redis on one loop: finds the address without blocking, signs
 * in, watches that the peer is alive, and connects again with growing, jittered
 * pauses for as long as it is open. What travels over it is its user's business:
 * redis_link.c sends commands, redis_subscribe.c listens. Everything here happens
 * on the loop's thread, except redis_connection_trouble.
 *
 *   IDLE → CONNECTING → READY     closed by the peer while READY: CONNECTING again at once
 *              ↓  ↑                an attempt failed, or no sign of life: DOWN, a pause, and again
 *             DOWN
 */
#ifndef COORD_REDIS_CONNECTION_H
#define COORD_REDIS_CONNECTION_H

#include "coord/redis_trouble.h"

#include <hiredis/async.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <uv.h>

enum redis_state { REDIS_IDLE, REDIS_CONNECTING, REDIS_READY, REDIS_DOWN, REDIS_CLOSED };

/* Owned by the adapter; outlives the connections. */
struct redis_server {
    char *host, *username, *password;
    int port;
    int database;
    char *prefix; /* of every key and channel, at most COORD_PREFIX_MAX bytes; "" for none */
    struct redis_trouble trouble;
};

struct redis_connection;

struct redis_user {
    const char *name;                                    /* for the log */
    void (*greet)(struct redis_connection *connection);  /* signed in: sends what must come first, then a beat */
    void (*beat)(struct redis_connection *connection);   /* sends something whose answer is redis_connection_alive */
    void (*ready)(struct redis_connection *connection);  /* the first beat was answered */
    void (*lost)(struct redis_connection *connection);   /* a ready one was lost, or an attempt has failed */
    void (*closed)(struct redis_connection *connection); /* nothing refers to it any more: free it */
};

struct redis_connection {
    struct redis_server *server;
    const struct redis_user *user;
    redisAsyncContext *context; /* NULL when there is none */
    enum redis_state state;
    bool failed;       /* the last attempt has failed, or the last connection was lost and not replaced */
    uint64_t number;   /* 1, 2 …: the connection that is being made, or is there */
    unsigned attempts; /* since it worked well; makes the pauses longer */
    unsigned silence;  /* beats since the last answer, or since the attempt began */
    size_t references; /* handles of the loop that are still open */
    uv_loop_t *loop;
    uv_timer_t timer; /* CONNECTING: the limit; READY: the next beat; DOWN: the next attempt */
    uv_getaddrinfo_t resolving;
    bool is_resolving;
    _Atomic(const char *) trouble;
};

void redis_connection_open(struct redis_connection *connection, struct redis_server *server,
                           const struct redis_user *user, uv_loop_t *loop);

/* Begins to connect unless that has begun already. */
void redis_connection_want(struct redis_connection *connection);

/* The user has seen an answer to its beat. */
void redis_connection_alive(struct redis_connection *connection);

/* The user has seen something wrong on this connection: it is dropped, and a new one is made. */
void redis_connection_fail(struct redis_connection *connection, const char *why);

/* The user may own handles, too, each counted in `references`; this tells that one was closed. */
void redis_connection_release(struct redis_connection *connection);

/* For good. The user's closed() is called later, by the loop. */
void redis_connection_close(struct redis_connection *connection);

/* NULL when it is ready. Any thread. */
const char *redis_connection_trouble(struct redis_connection *connection);

#endif
