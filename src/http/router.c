#include "http/router.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* A tree of path segments. A node's children are few, so they are a list; a
 * parameter child is tried when no fixed one matches. */
struct node {
    struct str segment; /* points into the route's path */
    struct node *sibling, *children;
    struct node *parameter; /* "{name}" */
    struct node *rest;      /* "{*}" */
    struct route *routes[HTTP_METHOD_COUNT];
    unsigned methods; /* that it takes, as bits */
    bool internal;    /* it is for the internal listener */
};

struct router {
    struct node root;
    struct route **routes;
    size_t count;
    unsigned methods[2]; /* that any path takes; [1]: of the internal ones */
};

static void *must_allocate(void *memory)
{
    if (!memory) {
        fputs("tickettock: out of memory while building the routes\n", stderr);
        exit(1);
    }
    return memory;
}

struct router *router_create(void)
{
    return must_allocate(calloc(1, sizeof(struct router)));
}

static void free_nodes(struct node *node)
{
    while (node) {
        struct node *sibling = node->sibling;
        free_nodes(node->children);
        free_nodes(node->parameter);
        free_nodes(node->rest);
        free(node);
        node = sibling;
    }
}

void router_destroy(struct router *router)
{
    free_nodes(router->root.children);
    free_nodes(router->root.parameter);
    free_nodes(router->root.rest);
    for (size_t i = 0; i < router->count; i++)
        free(router->routes[i]);
    free(router->routes);
    free(router);
}

/* Takes "/segment" off the front of *path; false at its end. "/" alone has one empty segment. */
static bool next_segment(struct str *path, struct str *segment)
{
    if (path->len == 0)
        return false;
    *path = str_from_offset(*path, 1);
    ptrdiff_t slash = str_find_char(*path, '/');
    *segment = slash < 0 ? *path : str_first(*path, (size_t)slash);
    *path = str_from_offset(*path, segment->len);
    return true;
}

static struct node *find_child(const struct node *node, struct str segment)
{
    struct node *child = node->children;
    while (child && !str_eq(child->segment, segment))
        child = child->sibling;
    return child;
}

static struct node *new_node(struct node **slot, struct str segment)
{
    struct node *node = must_allocate(calloc(1, sizeof(*node)));
    node->segment = segment;
    node->sibling = *slot;
    *slot = node;
    return node;
}

static struct node *node_for(struct router *router, const char *path)
{
    struct node *node = &router->root;
    struct str rest = str_from(path), segment;
    assert(path[0] == '/');
    while (next_segment(&rest, &segment)) {
        if (str_eq(segment, STR("{*}")))
            node = node->rest ? node->rest : new_node(&node->rest, segment);
        else if (segment.len && segment.ptr[0] == '{')
            node = node->parameter ? node->parameter : new_node(&node->parameter, segment);
        else {
            struct node *child = find_child(node, segment);
            node = child ? child : new_node(&node->children, segment);
        }
    }
    return node;
}

void router_add(struct router *router, const struct route *routes, size_t count)
{
    router->routes = must_allocate(realloc(router->routes, (router->count + count) * sizeof(struct route *)));
    for (size_t i = 0; i < count; i++) {
        struct route *route = must_allocate(malloc(sizeof(*route)));
        *route = routes[i];
        assert((route->access == ACCESS_INTERNAL) == str_starts(str_from(route->path), STR("/internal/")));
        route->index = router->count;
        router->routes[router->count++] = route;
        struct node *node = node_for(router, route->path);
        assert(!node->routes[route->method]);
        node->routes[route->method] = route;
        node->methods |= 1u << route->method;
        if (route->method == HTTP_GET)
            node->methods |= 1u << HTTP_HEAD;
        node->internal |= route->access == ACCESS_INTERNAL;
        router->methods[node->internal] |= node->methods;
    }
}

size_t router_count(const struct router *router)
{
    return router->count;
}

const struct route *router_route(const struct router *router, size_t index)
{
    return router->routes[index];
}

/* The node with routes for a path, collecting parameters on the way. */
static const struct node *walk(const struct node *node, struct str path, struct route_match *match)
{
    struct str segment, whole = path;
    if (!next_segment(&path, &segment))
        return node->methods ? node : NULL;

    const struct node *found, *child = find_child(node, segment);
    if (child && (found = walk(child, path, match)))
        return found;

    size_t depth = match->param_count;
    if (node->parameter && segment.len && depth < ROUTE_PARAMS_MAX) {
        match->params[match->param_count++] = segment;
        if ((found = walk(node->parameter, path, match)))
            return found;
        match->param_count = depth;
    }
    if (node->rest && depth < ROUTE_PARAMS_MAX) {
        match->params[match->param_count++] = str_from_offset(whole, 1);
        return node->rest;
    }
    return NULL;
}

static const struct node *find_node(const struct router *router, struct str path, struct route_match *match)
{
    const struct node *node = walk(&router->root, path, match);
    if (node)
        return node;

    struct str api = STR("/api/");
    if (!str_starts(path, api) || str_starts(path, STR("/api/v1/")))
        return NULL;
    const struct node *root = find_child(&router->root, STR("api"));
    const struct node *version = root ? find_child(root, STR("v1")) : NULL;
    match->param_count = 0;
    return version ? walk(version, str_from_offset(path, api.len - 1), match) : NULL;
}

struct route_match router_match(const struct router *router, enum http_method method, struct str path)
{
    struct route_match match = {0};
    const struct node *node = find_node(router, path, &match);
    if (!node)
        return match;
    match.methods = node->methods;
    match.internal = node->internal;
    match.route = node->routes[method];
    if (!match.route && method == HTTP_HEAD)
        match.route = node->routes[HTTP_GET];
    return match;
}

unsigned router_methods(const struct router *router, bool internal)
{
    return router->methods[internal];
}
