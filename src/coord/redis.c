/*
 * The `redis` adapter: the operations, each one command or script, and the
 * connections of each loop. A loop's link is made by its first command, its
 * listener by its first subscription.
 */
#include "base/clock.h"
#include "coord/adapter.h"
#include "coord/redis_batch.h"
#include "coord/redis_link.h"
#include "coord/redis_subscribe.h"

#include <assert.h>
#include <stdlib.h>

enum { LOOPS_MAX = 256, DEFAULT_TIMEOUT_MS = 1000 };

struct redis_loop {
    struct loop *loop; /* NULL: free */
    struct redis_link *link;
    struct redis_listener *listener;
};

struct redis {
    struct coord base;
    struct redis_server server;
    int64_t timeout_ms;
    const char *not_connected; /* the trouble before the first connection */
    pthread_mutex_t mutex;     /* guards the table; what is in a row belongs to the row's loop */
    struct redis_loop loops[LOOPS_MAX];
};

static struct redis *redis_of(struct coord *coord)
{
    return (struct redis *)coord;
}

/* NULL finds a free row. */
static struct redis_loop *find_row(struct redis *redis, const struct loop *loop)
{
    for (size_t i = 0; i < LOOPS_MAX; i++)
        if (redis->loops[i].loop == loop)
            return &redis->loops[i];
    return NULL;
}

/* The row of the current loop, made if there is none; NULL outside of loops and when there are too many. */
static struct redis_loop *current_row(struct redis *redis)
{
    struct loop *loop = loop_current();
    if (!loop)
        return NULL;
    pthread_mutex_lock(&redis->mutex);
    struct redis_loop *row = find_row(redis, loop);
    if (!row)
        row = find_row(redis, NULL);
    if (row)
        row->loop = loop;
    pthread_mutex_unlock(&redis->mutex);
    return row;
}

static struct redis_link *current_link(struct redis *redis)
{
    struct redis_loop *row = current_row(redis);
    if (!row || row->link)
        return row ? row->link : NULL;
    struct redis_link *link = redis_link_open(&redis->server, loop_uv(row->loop));
    pthread_mutex_lock(&redis->mutex); /* redis_trouble reads it on other threads */
    row->link = link;
    pthread_mutex_unlock(&redis->mutex);
    return link;
}

static struct redis_listener *current_listener(struct redis *redis)
{
    struct redis_loop *row = current_row(redis);
    if (!row || row->listener)
        return row ? row->listener : NULL;
    struct redis_listener *listener = redis_listener_open(&redis->server, loop_uv(row->loop));
    pthread_mutex_lock(&redis->mutex);
    row->listener = listener;
    pthread_mutex_unlock(&redis->mutex);
    return listener;
}

static enum coord_outcome run(struct coord *coord, struct redis_request *request)
{
    struct redis *redis = redis_of(coord);
    struct redis_link *link = current_link(redis);
    return link ? redis_link_run(link, request, redis->timeout_ms) : COORD_UNAVAILABLE;
}

static enum coord_outcome run_lock(struct coord *coord, const struct redis_operation *operation,
                                   const struct coord_lock *lock, int64_t *answer)
{
    struct redis_request request = {.operation = operation, .group = redis_hash_tag(lock->keys[0].key), .data = lock};
    enum coord_outcome outcome = run(coord, &request);
    if (outcome == COORD_OK)
        *answer = request.reply->integer;
    return outcome;
}

static uint64_t current_connection(struct coord *coord)
{
    struct redis_link *link = current_link(redis_of(coord));
    return link ? redis_link_connection(link)->number : 0;
}

static enum coord_outcome redis_lock(struct coord *coord, struct coord_lock *lock)
{
    int64_t asked_ns = clock_mono_ns(), answer = 0;
    lock->certain_until_ns = 0;
    enum coord_outcome outcome = run_lock(coord, &redis_lock_operation, lock, &answer);
    if (outcome != COORD_OK || answer == 0)
        return outcome == COORD_OK ? COORD_TAKEN : outcome;
    lock->certain_until_ns = asked_ns + lock->ttl_ms * NS_PER_MS / 2;
    lock->connection = current_connection(coord);
    return COORD_OK;
}

/* Not near its end, nobody beside us can have it, and Redis has not been away, and perhaps emptied, meanwhile. */
static bool is_certainly_ours(struct coord *coord, const struct coord_lock *lock)
{
    for (size_t i = 0; i < lock->count; i++)
        if (lock->keys[i].limit > 1)
            return false;
    return lock->certain_until_ns && lock->connection == current_connection(coord) &&
           clock_mono_ns() < lock->certain_until_ns;
}

static enum coord_outcome redis_unlock(struct coord *coord, const struct coord_lock *lock)
{
    int64_t answer = 0;
    if (is_certainly_ours(coord, lock))
        return run_lock(coord, &redis_remove_locks_operation, lock, &answer);
    enum coord_outcome outcome = run_lock(coord, &redis_unlock_operation, lock, &answer);
    return outcome == COORD_OK && answer == 0 ? COORD_MISSING : outcome;
}

static enum coord_outcome redis_sequence(struct coord *coord, struct str key, int64_t *value)
{
    struct redis_request request = {.operation = &redis_sequence_operation, .group = key};
    enum coord_outcome outcome = run(coord, &request);
    if (outcome == COORD_OK)
        *value = request.number;
    return outcome;
}

/* Operations that travel alone: a list of texts, keys and numbers. */
enum { WORDS_MAX = 5 };
struct words {
    size_t count;
    struct {
        struct str text; /* ptr NULL: the number */
        bool is_key;
        int64_t number;
    } items[WORDS_MAX];
};

static void add_text(struct words *words, struct str text)
{
    assert(words->count < WORDS_MAX);
    words->items[words->count++].text = text.ptr ? text : STR("");
}

static void add_key(struct words *words, struct str key)
{
    add_text(words, key);
    words->items[words->count - 1].is_key = true;
}

static void add_number(struct words *words, int64_t number)
{
    assert(words->count < WORDS_MAX);
    words->items[words->count++].number = number;
}

static void compose_words(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    const struct words *words = requests[0]->data;
    (void)count;
    for (size_t i = 0; i < words->count; i++) {
        if (words->items[i].is_key)
            REDIS_ADD_KEY(command, words->items[i].text);
        else if (words->items[i].text.ptr)
            redis_command_add(command, words->items[i].text);
        else
            redis_command_add_int(command, words->items[i].number);
    }
}

static const struct redis_operation plain = {SCRIPT_NONE, 1, NULL, compose_words, NULL};
static const struct redis_operation raise_operation = {SCRIPT_SEQUENCE_RAISE, 1, NULL, compose_words, NULL};
static const struct redis_operation count_operation = {SCRIPT_COUNT, 1, NULL, compose_words, NULL};
static const struct redis_operation rate_operation = {SCRIPT_RATE, 1, NULL, compose_words, NULL};
static const struct redis_operation get_operation = {SCRIPT_GET, 1, NULL, compose_words, NULL};

static void begin_script(struct words *words, struct str key)
{
    add_number(words, 1);
    add_key(words, key);
}

static enum coord_outcome redis_sequence_raise(struct coord *coord, struct str key, int64_t floor)
{
    struct words words = {0};
    begin_script(&words, key);
    add_number(&words, floor);
    struct redis_request request = {.operation = &raise_operation, .data = &words};
    return run(coord, &request);
}

static enum coord_outcome redis_count(struct coord *coord, struct str key, int64_t add, int64_t ttl_ms, int64_t *sum)
{
    struct words words = {0};
    begin_script(&words, key);
    add_number(&words, add);
    add_number(&words, ttl_ms);
    struct redis_request request = {.operation = &count_operation, .data = &words};
    enum coord_outcome outcome = run(coord, &request);
    if (outcome == COORD_OK)
        *sum = request.reply->integer;
    return outcome;
}

static enum coord_outcome redis_rate(struct coord *coord, struct str key, uint32_t limit, int64_t window_ms,
                                     int64_t *retry_after_ms)
{
    struct words words = {0};
    begin_script(&words, key);
    add_number(&words, limit);
    add_number(&words, window_ms);
    struct redis_request request = {.operation = &rate_operation, .data = &words};
    enum coord_outcome outcome = run(coord, &request);
    if (outcome != COORD_OK)
        return outcome;
    *retry_after_ms = request.reply->integer;
    return *retry_after_ms == 0 ? COORD_OK : COORD_LIMITED;
}

static enum coord_outcome redis_set(struct coord *coord, struct str key, struct str value, int64_t ttl_ms)
{
    struct words words = {0};
    add_text(&words, STR("SET"));
    add_key(&words, key);
    add_text(&words, value);
    if (ttl_ms) {
        add_text(&words, STR("PX"));
        add_number(&words, ttl_ms);
    }
    struct redis_request request = {.operation = &plain, .data = &words};
    return run(coord, &request);
}

static enum coord_outcome redis_get(struct coord *coord, struct str key, struct arena *arena, struct str *value,
                                    int64_t *ttl_ms)
{
    struct words words = {0};
    struct redis_request request = {.operation = ttl_ms ? &get_operation : &plain, .data = &words};
    if (ttl_ms) {
        begin_script(&words, key);
    } else {
        add_text(&words, STR("GET"));
        add_key(&words, key);
    }
    enum coord_outcome outcome = run(coord, &request);
    if (outcome != COORD_OK)
        return outcome;
    const redisReply *found = request.reply;
    if (ttl_ms) {
        if (found->type != REDIS_REPLY_ARRAY || found->elements != 2)
            return COORD_FAILED;
        int64_t left = found->element[1]->integer;
        *ttl_ms = left < 0 ? 0 : left > 0 ? left : 1; /* in its last millisecond it is not there for ever */
        found = found->element[0];
    }
    if (found->type != REDIS_REPLY_STRING)
        return COORD_MISSING;
    *value = arena_copy(arena, str_make(found->str, found->len));
    return COORD_OK;
}

static enum coord_outcome redis_delete(struct coord *coord, struct str key)
{
    struct words words = {0};
    add_text(&words, STR("DEL"));
    add_key(&words, key);
    struct redis_request request = {.operation = &plain, .data = &words};
    enum coord_outcome outcome = run(coord, &request);
    return outcome == COORD_OK && request.reply->integer == 0 ? COORD_MISSING : outcome;
}

static enum coord_outcome redis_publish(struct coord *coord, struct str channel, struct str message)
{
    struct words words = {0};
    add_text(&words, STR("PUBLISH"));
    add_key(&words, channel);
    add_text(&words, message);
    struct redis_request request = {.operation = &plain, .data = &words};
    return run(coord, &request);
}

static struct coord_subscription *redis_subscribe(struct coord *coord, struct str channel,
                                                  struct coord_subscriber subscriber)
{
    struct redis_listener *listener = current_listener(redis_of(coord));
    return listener ? redis_listener_subscribe(listener, coord, channel, subscriber) : NULL;
}

static void redis_close_loop(struct coord *coord)
{
    struct redis *redis = redis_of(coord);
    struct redis_loop *found, row = {0};
    pthread_mutex_lock(&redis->mutex);
    if ((found = find_row(redis, loop_current()))) {
        row = *found;
        *found = (struct redis_loop){0};
    }
    pthread_mutex_unlock(&redis->mutex);
    if (row.link)
        redis_link_close(row.link);
    if (row.listener)
        redis_listener_close(row.listener);
}

static void redis_close(struct coord *coord)
{
    struct redis *redis = redis_of(coord);
    redis_trouble_free(&redis->server.trouble);
    pthread_mutex_destroy(&redis->mutex);
    free(redis->server.host);
    free(redis->server.username);
    free(redis->server.password);
    free(redis->server.prefix);
    free(redis);
}

/* The first trouble of any loop. When no loop has a connection yet, the caller's loop begins one, so that a
 * server that has just started can become ready without a request. */
static const char *redis_trouble(struct coord *coord)
{
    struct redis *redis = redis_of(coord);
    const char *trouble = NULL;
    bool connected = false;
    pthread_mutex_lock(&redis->mutex);
    for (size_t i = 0; i < LOOPS_MAX && !trouble; i++) {
        struct redis_loop *row = &redis->loops[i];
        connected = connected || row->link;
        if (row->link)
            trouble = redis_connection_trouble(redis_link_connection(row->link));
        if (row->listener && !trouble)
            trouble = redis_connection_trouble(redis_listener_connection(row->listener));
    }
    pthread_mutex_unlock(&redis->mutex);
    if (connected || trouble)
        return trouble;
    struct redis_link *link = current_link(redis);
    if (link)
        redis_connection_want(redis_link_connection(link));
    return redis->not_connected;
}

static const struct coord_adapter redis_adapter = {
    .lock = redis_lock,
    .unlock = redis_unlock,
    .sequence = redis_sequence,
    .sequence_raise = redis_sequence_raise,
    .count = redis_count,
    .rate = redis_rate,
    .set = redis_set,
    .get = redis_get,
    .remove = redis_delete,
    .publish = redis_publish,
    .subscribe = redis_subscribe,
    .unsubscribe = redis_listener_unsubscribe,
    .close_loop = redis_close_loop,
    .close = redis_close,
    .trouble = redis_trouble,
};

struct coord *coord_redis_open(const struct coord_settings *settings)
{
    struct redis *redis = calloc(1, sizeof(*redis));
    if (!redis)
        return NULL;
    struct redis_server *server = &redis->server;
    redis->base.adapter = &redis_adapter;
    redis->timeout_ms = settings->timeout_ms > 0 ? settings->timeout_ms : DEFAULT_TIMEOUT_MS;
    pthread_mutex_init(&redis->mutex, NULL);
    redis_trouble_init(&server->trouble);
    server->host = strdup(settings->host);
    server->username = settings->username ? strdup(settings->username) : NULL;
    server->password = settings->password ? strdup(settings->password) : NULL;
    server->prefix = strdup(settings->prefix ? settings->prefix : "");
    server->port = settings->port;
    server->database = settings->database;
    assert(!server->prefix || strlen(server->prefix) <= COORD_PREFIX_MAX);
    if (server->host && server->prefix && !server->username == !settings->username &&
        !server->password == !settings->password) {
        redis->not_connected = redis_trouble_text(&server->trouble, server->host, server->port, "not connected yet");
        return &redis->base;
    }
    redis_close(&redis->base);
    return NULL;
}
