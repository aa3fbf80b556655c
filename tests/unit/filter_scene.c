#include "filter_scene.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEAD_MAX = 8192, MEMORY_MAX = 1 << 20 };

static void init_request(struct filter_scene *scene)
{
    struct request *rq = &scene->rq;
    arena_init(&rq->arena, MEMORY_MAX);
    buf_init(&rq->head_bytes, HEAD_MAX);
    buf_init(&rq->reply.headers, HEAD_MAX);
    buf_init(&rq->reply.body, HEAD_MAX);
    rq->connection = &scene->connection;
    rq->route = &scene->route;
    memset(rq->trace, '7', TRACE_ID_LENGTH);
}

static void free_request(struct request *rq)
{
    arena_free(&rq->arena);
    buf_free(&rq->head_bytes);
    buf_free(&rq->reply.headers);
    buf_free(&rq->reply.body);
    memset(rq, 0, sizeof(*rq));
}

void scene_open(struct filter_scene *scene)
{
    memset(scene, 0, sizeof(*scene));
    struct arena arena;
    struct buf problems = BUF_INIT(4096);
    char *no_environment[] = {NULL};
    arena_init(&arena, MEMORY_MAX);
    struct config_input input = {.environment = no_environment};
    assert_true(settings_load(&input, &scene->settings, NULL, &arena, &problems));
    arena_free(&arena); /* texts that a test needs, it sets itself */
    buf_free(&problems);
    scene->settings.fcfs_user_header = STR("X-User-Id");
    scene->settings.bind_address = STR("127.0.0.1");
    scene->settings.fcfs_schedule = (struct str){NULL, 0};
    scene->keys = (struct token_keys){.access = STR(SCENE_KEY),
                                      .entry = STR(SCENE_ENTRY_KEY),
                                      .guest = STR("the-guests-key-of-the-tests"),
                                      .issuer = STR("us"),
                                      .audience = STR("you")};
    struct coord *coord = coord_open(&(struct coord_settings){.max_entries = 1000});
    struct gateway_parts parts = {.settings = &scene->settings,
                                  .keys = &scene->keys,
                                  .coord = coord,
                                  .revoked = revoked_create(NULL, coord),
                                  .loops = 1};
    scene->gateway = gateway_create(&parts);
    assert_non_null(scene->gateway);
    scene->connection.home = &scene->home;
    init_request(scene);
}

void scene_close(struct filter_scene *scene)
{
    struct gateway_parts parts = scene->gateway->parts;
    free_request(&scene->rq);
    gateway_destroy(scene->gateway);
    revoked_destroy(parts.revoked);
    coord_close(parts.coord);
}

void scene_request(struct filter_scene *scene, enum http_method method, const char *target, const char *headers)
{
    struct request *rq = &scene->rq;
    enum error error;
    struct str address = rq->client_address;
    free_request(rq);
    init_request(scene);
    rq->client_address = address.ptr ? address : STR("5.5.5.5");
    buf_add_format(&rq->head_bytes, "%.*s %s HTTP/1.1\r\nHost: shop.example\r\n%s\r\n",
                   STR_ARG(http_method_name(method)), target, headers);
    assert_true(head_parse(buf_str(&rq->head_bytes), &rq->head, &error));
}

struct str scene_token(struct filter_scene *scene, const char *user, enum role role)
{
    int64_t now = clock_wall_ms() / MS_PER_S;
    static struct arena arena;
    arena_free(&arena);
    arena_init(&arena, MEMORY_MAX);
    return jwt_sign(&arena, scene->keys.access,
                    &(struct jwt_claims){.issuer = scene->keys.issuer,
                                         .audience = scene->keys.audience,
                                         .subject = str_from(user),
                                         .token_id = STR("the-token"),
                                         .family = STR("the-family"),
                                         .role = role,
                                         .issued_at = now,
                                         .not_before = now,
                                         .expires_at = now + 3600});
}
