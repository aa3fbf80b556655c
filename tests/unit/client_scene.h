/* What the tests of the HTTP client share: one loop with one task that talks to one server through one client. */
#ifndef TESTS_CLIENT_SCENE_H
#define TESTS_CLIENT_SCENE_H

#include "http/client.h"
#include "task/task.h"
#include "test_server.h"

struct scene {
    struct http_client_options options;
    const char *certificate; /* of the server, when it speaks TLS */
    struct test_server server;
    struct http_client *client;
    struct arena arena;
    void (*play)(struct scene *scene);
    int begun, running; /* of the tasks that play has started */
    struct wakeup all_ended;
    struct loop_message start;
};

/* Runs fn(scene) as a task, with everything around it set up from `options` and `certificate`. */
void scene_run(struct scene *scene, void (*fn)(struct scene *));

/* The message that starts scene->play on a loop, stops the loop at its end, and closes the client there. */
void scene_start(struct loop_message *message);

/* Many tasks with the scene as their argument; each calls scene_task_ends at its end, which wakes `all_ended`. */
void scene_start_tasks(struct scene *scene, int count, void (*fn)(void *));
void scene_task_ends(struct scene *scene);

struct str scene_url(struct scene *scene, const char *path);

/* With a cap of a megabyte if the call has none; answer may be NULL. */
enum http_call_outcome scene_call(struct scene *scene, struct http_call call, struct http_answer *answer);
enum http_call_outcome scene_get(struct scene *scene, const char *path, struct http_answer *answer);

#endif
