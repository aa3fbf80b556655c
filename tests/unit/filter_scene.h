/*
 * A gateway without a server around it, for tests of single filters: a request is a head as text and a row of the route
 * table, and what a filter answers is in its reply.
 */
#ifndef TESTS_FILTER_SCENE_H
#define TESTS_FILTER_SCENE_H

#include "gateway/filters.h"
#include "gateway/jwt.h"
#include "http/connection.h"
#include "http/router.h"
#include "test.h"

#define SCENE_KEY "the-key-of-the-tests-has-32-bytes"
#define SCENE_ENTRY_KEY "another-key-of-the-tests-of-32-by"

struct filter_scene {
    struct settings settings;
    struct token_keys keys;
    struct gateway *gateway;
    struct route route;
    struct request rq;
    struct server_loop home;
    struct connection connection;
};

/* In-process shared state, no database; settings as they are without any. */
void scene_open(struct filter_scene *scene);
void scene_close(struct filter_scene *scene);

/* A new request. `headers` are lines with \r\n behind each: "Cookie: a=b\r\n". */
void scene_request(struct filter_scene *scene, enum http_method method, const char *target, const char *headers);

/* A token that is good for an hour, signed with SCENE_KEY. */
struct str scene_token(struct filter_scene *scene, const char *user, enum role role);

/* The filter lets the request pass. */
#define assert_admits(scene, filter) assert_true(filter((scene)->gateway, &(scene)->rq))
/* The filter has answered with that error. */
#define assert_refuses(scene, filter, error)                                                                           \
    do {                                                                                                               \
        assert_false(filter((scene)->gateway, &(scene)->rq));                                                          \
        assert_int_equal((scene)->rq.reply.status, error_row(error)->status);                                          \
        assert_true(str_contains(buf_str(&(scene)->rq.reply.body), error_row(error)->reason));                         \
    } while (0)

#endif
