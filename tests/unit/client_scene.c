#include "client_scene.h"

#include "test.h"

static void play(void *argument)
{
    struct scene *scene = argument;
    scene->play(scene);
    http_client_close_loop(scene->client);
    loop_stop(loop_current());
}

void scene_start(struct loop_message *message)
{
    assert_true(task_start(play, (char *)message - offsetof(struct scene, start)));
}

void scene_run(struct scene *scene, void (*fn)(struct scene *))
{
    test_server_start(&scene->server, scene->certificate);
    scene->client = http_client_create(&scene->options);
    assert_non_null(scene->client);
    arena_init(&scene->arena, 16 << 20);
    scene->play = fn;
    scene->start.deliver = scene_start;
    struct loop *loop = loop_create(600);
    loop_post(loop, &scene->start);
    loop_run(loop);
    loop_destroy(loop);
    http_client_free(scene->client);
    arena_free(&scene->arena);
    test_server_stop(&scene->server);
}

struct str scene_url(struct scene *scene, const char *path)
{
    return arena_format(&scene->arena, "%s://127.0.0.1:%d%s", scene->certificate ? "https" : "http", scene->server.port,
                        path);
}

enum http_call_outcome scene_call(struct scene *scene, struct http_call call, struct http_answer *answer)
{
    struct http_answer unused;
    if (!call.max_answer)
        call.max_answer = 1 << 20;
    return http_call(scene->client, &call, &scene->arena, answer ? answer : &unused);
}

enum http_call_outcome scene_get(struct scene *scene, const char *path, struct http_answer *answer)
{
    return scene_call(scene, (struct http_call){.url = scene_url(scene, path)}, answer);
}

void scene_start_tasks(struct scene *scene, int count, void (*fn)(void *))
{
    wakeup_prepare(&scene->all_ended);
    scene->running = count;
    for (int i = 0; i < count; i++)
        assert_true(task_start(fn, scene));
}

void scene_task_ends(struct scene *scene)
{
    if (--scene->running == 0)
        wakeup_now(&scene->all_ended);
}
