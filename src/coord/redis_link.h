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
    REDIS_TEXT = 16 * 1024,     /* bytes of those that are made for it */
    REDIS_INT_BYTES = 21,       /* of a number, with a sign or a space */
    REDIS_REQUESTS_MAX = 16384, /* waiting or sent, per loop */
};

/* A command being put together. What is added as it is, is not copied: it lives until the command is sent. */
struct redis_command {
    struct str prefix; /* of keys */
    int count;
    size_t bytes;
    size_t text_used;
    const char *arguments[REDIS_ARGUMENTS];
    size_t lengths[REDIS_ARGUMENTS];
    char text[REDIS_TEXT];
};
void redis_command_add(struct redis_command *command, struct str argument);
void redis_command_add_joined(struct redis_command *command, const struct str *pieces, size_t count);
#define REDIS_ADD_JOINED(command, ...)                                                                                 \
    redis_command_add_joined((command), (const struct str[]){__VA_ARGS__},                                             \
                             sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str))
/* A key, or a channel: with the prefix. All of them pass here. */
#define REDIS_ADD_KEY(command, ...) REDIS_ADD_JOINED((command), (command)->prefix, __VA_ARGS__)
void redis_command_add_int(struct redis_command *command, int64_t number);
void redis_command_add_ints(struct redis_command *command, const int64_t *numbers, size_t count); /* "1 2 3" */

struct redis_request;

struct redis_operation {
    enum redis_script script; /* SCRIPT_NONE: compose begins with the command's name */
    size_t batch;             /* 1: each request travels alone */
    /* Whether two of the same group may travel together; NULL: always. */
    bool (*alike)(const struct redis_request *a, const struct redis_request *b);
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
