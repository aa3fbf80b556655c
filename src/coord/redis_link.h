/*
 * The commands of one loop: tasks put requests in, the loop sends them together
 * when its turn ends, and each task is woken with its answer. Requests of the
 * same operation about the same thing (locks under one hash tag, numbers of one
 * sequence) travel as one command, because a script call costs Redis far more
 * than what it does. On the loop's thread.
 *
 * A request lies on its task's stack. While it is queued the task can take it
 * back; once it is sent, a flight on the heap knows it, and forgets it when the
 * task leaves first. So a late answer finds nobody.
 */
#ifndef COORD_REDIS_LINK_H
#define COORD_REDIS_LINK_H

#include "coord/coord.h"
#include "coord/redis_connection.h"
#include "coord/redis_scripts.h"
#include "task/task.h"

enum {
    REDIS_BATCH = 64,           /* requests in one command: bounds how long a script keeps Redis busy */
    REDIS_ARGUMENTS = 1024,     /* of one command */
    REDIS_DIGITS = 16 * 1024,   /* bytes of the numbers among them */
    REDIS_REQUESTS_MAX = 16384, /* waiting or sent, per loop */
};

/* A command being put together. Arguments are not copied: they live until it is sent. */
struct redis_command {
    int count;
    size_t bytes;
    size_t digits_used;
    const char *arguments[REDIS_ARGUMENTS];
    size_t lengths[REDIS_ARGUMENTS];
    char digits[REDIS_DIGITS];
};
void redis_command_add(struct redis_command *command, struct str argument);
void redis_command_add_int(struct redis_command *command, int64_t number);

struct redis_request;

struct redis_operation {
    enum redis_script script; /* SCRIPT_NONE: compose begins with the command's name */
    size_t batch;             /* 1: each request travels alone */
    /* With a script: the number of keys, the keys, the arguments. */
    void (*compose)(struct redis_command *command, struct redis_request *const *requests, size_t count);
    /* Gives every request its part of an answer that is no error. */
    void (*share)(struct redis_request *const *requests, size_t count, const redisReply *reply);
};

struct redis_request {
    const struct redis_operation *operation;
    struct str group; /* requests of equal group may travel together */
    const void *data; /* of the operation */

    const redisReply *reply; /* NULL: none came. Valid only until the task waits again */
    int64_t number;          /* set by the operations that share one number */

    struct redis_request *next, *previous; /* while queued */
    struct redis_flight *flight;           /* while sent */
    size_t place;                          /* in the flight */
    bool again;                            /* sent a second time, after Redis had lost its scripts */
    struct wakeup wakeup;
};

struct redis_link;

struct redis_link *redis_link_open(struct redis_server *server, uv_loop_t *loop);
void redis_link_close(struct redis_link *link);
struct redis_connection *redis_link_connection(struct redis_link *link);

/* From a task: sends the request and waits. COORD_OK when request->reply is an answer and no error. */
enum coord_outcome redis_link_run(struct redis_link *link, struct redis_request *request, int64_t timeout_ms);

#endif
