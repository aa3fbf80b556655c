#include "http/request.h"

#include "base/cidr.h"
#include "base/clock.h"
#include "http/connection.h"

#include <setjmp.h>
#include <stdlib.h>

enum {
    POOL_REQUESTS = 1024,       /* per loop, kept for the next */
    KEEP_BYTES = 16 * 1024,     /* buffers above this are given back */
    REPLY_BODY_MAX = 256 << 20, /* a million seats as JSON fit */
};

struct request_end {
    struct request_end *next;
    void (*end)(void *argument);
    void *argument;
};

static void leave_handler(void *context)
{
    struct request *rq = context;
    if (rq->unwind)
        longjmp(*(jmp_buf *)rq->unwind, 1);
}

static struct request *request_create(struct server_loop *home)
{
    struct request *rq = calloc(1, sizeof(*rq));
    if (!rq)
        return NULL;
    const struct server_settings *settings = server_settings(home->server);
    arena_init(&rq->arena, settings->max_request_memory);
    rq->arena.exhausted = leave_handler;
    rq->arena.context = rq;
    rq->app = server_hooks(home->server)->app;
    buf_init(&rq->head_bytes, settings->max_header_bytes);
    buf_init(&rq->reply.headers, REPLY_HEADERS_MAX);
    buf_init(&rq->reply.unsent_front, ANSWER_FRONT_MAX);
    buf_init(&rq->reply.body, REPLY_BODY_MAX);
    buf_init(&rq->reply.packed, REPLY_BODY_MAX);
    return rq;
}

struct request *request_take(struct server_loop *home, struct connection *connection)
{
    struct request *rq = home->idle_requests;
    if (rq) {
        home->idle_requests = rq->next;
        home->idle_request_count--;
    } else if (!(rq = request_create(home))) {
        return NULL;
    }
    rq->connection = connection;
    rq->client_address = str_from(connection->address_text);
    rq->started_ns = clock_mono_ns();
    return rq;
}

static void buf_recycle(struct buf *buf)
{
    if (buf->size > KEEP_BYTES)
        buf_free(buf);
    else
        buf_clear(buf);
}

static void request_free(struct request *rq)
{
    arena_free(&rq->arena);
    buf_free(&rq->head_bytes);
    buf_free(&rq->body_bytes);
    buf_free(&rq->reply.headers);
    buf_free(&rq->reply.unsent_front);
    buf_free(&rq->reply.body);
    buf_free(&rq->reply.packed);
    free(rq);
}

void request_release(struct request *rq)
{
    struct server_loop *home = rq->connection->home;
    answer_release_shared(rq);
    if (home->idle_request_count >= POOL_REQUESTS) {
        request_free(rq);
        return;
    }
    arena_reset(&rq->arena);
    buf_recycle(&rq->head_bytes);
    buf_recycle(&rq->body_bytes);
    buf_recycle(&rq->reply.headers);
    buf_recycle(&rq->reply.unsent_front);
    buf_recycle(&rq->reply.body);
    buf_recycle(&rq->reply.packed);
    rq->reply.status = 0;
    rq->reply.content_type = rq->reply.fixed = rq->body = (struct str){NULL, 0};
    rq->reply.sent = rq->reply.close = rq->reply.streamed = false;
    head_clear(&rq->head);
    rq->route = NULL;
    rq->allowed_methods = 0;
    rq->connection = NULL;
    rq->ends = NULL;
    rq->query = NULL;
    rq->query_count = 0;
    rq->identity = (struct identity){0};
    rq->next = home->idle_requests;
    home->idle_requests = rq;
    home->idle_request_count++;
}

void request_pool_free(struct server_loop *home)
{
    while (home->idle_requests) {
        struct request *rq = home->idle_requests;
        home->idle_requests = rq->next;
        request_free(rq);
    }
}

struct str request_header(const struct request *rq, struct str name)
{
    return head_header(&rq->head, name);
}

/* "name=value" out of "a=1; name=value". */
static struct str find_cookie(struct str cookies, struct str name)
{
    struct str item;
    while (str_split(&cookies, ';', &item)) {
        struct str value = str_trim(item), key;
        if (str_split(&value, '=', &key) && str_eq(key, name) && value.ptr)
            return value;
    }
    return (struct str){NULL, 0};
}

struct str request_cookie(const struct request *rq, struct str name)
{
    for (size_t i = 0; i < rq->head.header_count; i++)
        if (str_ieq(rq->head.headers[i].name, STR("Cookie"))) {
            struct str value = find_cookie(rq->head.headers[i].value, name);
            if (value.ptr)
                return value;
        }
    return (struct str){NULL, 0};
}

bool request_over_tls(const struct request *rq)
{
    const struct cidr_list *trusted = server_settings(rq->connection->home->server)->trusted_proxies;
    struct str protocols = request_header(rq, STR("X-Forwarded-Proto")), first;
    return trusted && cidr_contains(trusted, &rq->connection->address) && str_split(&protocols, ',', &first) &&
           str_ieq(str_trim(first), STR("https"));
}

struct in6_addr request_client(const struct request *rq)
{
    struct in6_addr client;
    return cidr_parse_address(rq->client_address, &client) ? client : rq->connection->address;
}

size_t request_loop_index(const struct request *rq)
{
    return rq->connection->home->index;
}

struct str request_query(const struct request *rq, struct str name)
{
    for (size_t i = 0; i < rq->query_count; i++)
        if (str_eq(rq->query[i].name, name))
            return rq->query[i].value;
    return (struct str){NULL, 0};
}

/* "gzip" in the list and not with q=0. */
bool request_accepts_gzip(const struct request *rq)
{
    struct str rest = request_header(rq, STR("Accept-Encoding")), item;
    while (str_split(&rest, ',', &item)) {
        struct str name;
        if (!str_split(&item, ';', &name) || !str_ieq(str_trim(name), STR("gzip")))
            continue;
        struct str quality = str_trim(item.ptr ? item : STR(""));
        return !str_ieq(quality, STR("q=0")) && !str_ieq(str_first(quality, 5), STR("q=0.0"));
    }
    return false;
}

void request_at_end(struct request *rq, void (*end)(void *argument), void *argument)
{
    struct request_end *entry = ARENA_NEW(&rq->arena, struct request_end);
    *entry = (struct request_end){.next = rq->ends, .end = end, .argument = argument};
    rq->ends = entry;
}

void request_run_ends(struct request *rq)
{
    while (rq->ends) {
        struct request_end *entry = rq->ends;
        rq->ends = entry->next;
        entry->end(entry->argument);
    }
}
