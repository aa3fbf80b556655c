#include "services/auth/jwks.h"

#include "base/clock.h"
#include "base/json_read.h"
#include "base/log.h"
#include "http/client.h"
#include "task/task.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KEYS_MAX = 16,
    KID_MAX = 128,
    NUMBER_TEXT_MAX = 1400,
    ANSWER_MAX_BYTES = 64 * 1024,
    FETCH_MEMORY = 4 << 20,
    FETCH_TIMEOUT_MS = 3000,
    LOOK_AGAIN_MS = 20,
    DEFAULT_AGE_S = 300,
    MAX_AGE_S = 86400,
};

struct known_key {
    char kid[KID_MAX + 1];
    struct rs256_key *key;
};

struct key_set {
    struct known_key keys[KEYS_MAX];
    size_t count;
};

struct jwks {
    struct str url;
    struct http_client *client;
    pthread_mutex_t mutex; /* guards what follows */
    struct key_set set;
    int64_t fresh_until;  /* clock_mono_ns */
    int64_t last_attempt; /* 0: none yet */
    bool fetching;
};

static void free_set(struct key_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        rs256_key_free(set->keys[i].key);
    set->count = 0;
}

struct jwks *jwks_create(struct str url)
{
    struct jwks *jwks = calloc(1, sizeof(*jwks));
    if (!jwks)
        return NULL;
    jwks->url = url;
    pthread_mutex_init(&jwks->mutex, NULL);
    jwks->client = http_client_create(&(struct http_client_options){.timeout_ms = FETCH_TIMEOUT_MS});
    if (!jwks->client) {
        jwks_destroy(jwks);
        return NULL;
    }
    return jwks;
}

void jwks_destroy(struct jwks *jwks)
{
    free_set(&jwks->set);
    if (jwks->client)
        http_client_free(jwks->client);
    pthread_mutex_destroy(&jwks->mutex);
    free(jwks);
}

void jwks_close_loop(struct jwks *jwks)
{
    http_client_close_loop(jwks->client);
}

/* Reading the answer. */

struct key_body {
    struct str kid, kty, alg, use, n, e;
};
static const struct json_field key_fields[] = {
    JSON_FIELD(struct key_body, kid, "kid", .max = KID_MAX),
    JSON_FIELD(struct key_body, kty, "kty", .required = true, .max = 16),
    JSON_FIELD(struct key_body, alg, "alg", .max = 16),
    JSON_FIELD(struct key_body, use, "use", .max = 16),
    JSON_FIELD(struct key_body, n, "n", .max = NUMBER_TEXT_MAX),
    JSON_FIELD(struct key_body, e, "e", .max = NUMBER_TEXT_MAX),
};
static const struct json_descriptor key_descriptor = JSON_DESCRIPTOR(struct key_body, key_fields);

struct set_body {
    struct json_objects keys;
};
static const struct json_field set_fields[] = {
    JSON_FIELD_OBJECTS(struct set_body, keys, "keys", &key_descriptor, .required = true, .max_items = KEYS_MAX),
};
static const struct json_descriptor set_descriptor = JSON_DESCRIPTOR(struct set_body, set_fields);

/* Keys of other kinds may stand in the set; they are none of ours. */
static bool is_ours(const struct key_body *body)
{
    return body->kid.len && str_eq(body->kty, STR("RSA")) && (!body->alg.ptr || str_eq(body->alg, STR("RS256"))) &&
           (!body->use.ptr || str_eq(body->use, STR("sig")));
}

static bool read_set(struct str text, struct arena *arena, struct key_set *set)
{
    struct set_body body = {0};
    struct json_problem problem;
    if (!json_read(text, &set_descriptor, &body, arena, &problem))
        return false;
    const struct key_body *keys = body.keys.items;
    for (size_t i = 0; i < body.keys.count; i++) {
        struct rs256_key *key = is_ours(&keys[i]) ? rs256_key_create(keys[i].n, keys[i].e) : NULL;
        if (!key)
            continue;
        struct known_key *known = &set->keys[set->count++];
        known->key = key;
        snprintf(known->kid, sizeof(known->kid), "%.*s", STR_ARG(keys[i].kid));
    }
    return set->count > 0;
}

/* max-age of Cache-Control, in seconds. */
static int64_t age_of(struct str control)
{
    struct str item;
    int64_t age = DEFAULT_AGE_S, given;
    while (str_split(&control, ',', &item)) {
        item = str_trim(item);
        if (str_ieq(str_first(item, 8), STR("max-age=")) && str_to_int64(str_from_offset(item, 8), &given) &&
            given >= 0)
            age = given;
    }
    age = age > MAX_AGE_S ? MAX_AGE_S : age;
    return age < JWKS_MIN_INTERVAL_S ? JWKS_MIN_INTERVAL_S : age;
}

/* In an arena of its own: whatever happens to the request, `fetching` must be taken back. */
static bool fetch(const struct jwks *jwks, struct key_set *set, int64_t *age_s)
{
    struct arena arena;
    arena_init(&arena, FETCH_MEMORY);
    struct http_call call = {.method = HTTP_GET, .url = jwks->url, .max_answer = ANSWER_MAX_BYTES};
    struct http_answer answer;
    bool done = http_call(jwks->client, &call, &arena, &answer) == HTTP_CALL_OK && answer.status == 200 &&
                read_set(answer.body, &arena, set);
    if (done)
        *age_s = age_of(http_answer_header(&answer, STR("Cache-Control")));
    else
        log_warn("the issuer's keys could not be fetched", LOG_STR("url", jwks->url));
    arena_free(&arena);
    return done;
}

static bool fetch_and_keep(struct jwks *jwks)
{
    struct key_set set = {.count = 0};
    int64_t age_s = 0;
    bool done = fetch(jwks, &set, &age_s);
    pthread_mutex_lock(&jwks->mutex);
    struct key_set old = jwks->set;
    if (done) {
        jwks->set = set;
        jwks->fresh_until = clock_mono_ns() + age_s * NS_PER_S;
    }
    jwks->fetching = false;
    pthread_mutex_unlock(&jwks->mutex);
    free_set(done ? &old : &set);
    return done;
}

/* With the mutex. */
static struct rs256_key *find(const struct jwks *jwks, struct str kid)
{
    for (size_t i = 0; i < jwks->set.count; i++)
        if (str_eq(str_from(jwks->set.keys[i].kid), kid))
            return rs256_key_share(jwks->set.keys[i].key);
    return NULL;
}

enum step { STEP_FOUND, STEP_UNKNOWN, STEP_UNAVAILABLE, STEP_WAIT, STEP_FETCH };

static enum step next_step(struct jwks *jwks, struct str kid, struct rs256_key **key)
{
    int64_t now = clock_mono_ns();
    enum step step;
    pthread_mutex_lock(&jwks->mutex);
    bool fresh = now < jwks->fresh_until;
    bool too_soon = jwks->last_attempt && now - jwks->last_attempt < JWKS_MIN_INTERVAL_S * NS_PER_S;
    if (fresh && (*key = find(jwks, kid))) {
        step = STEP_FOUND;
    } else if (jwks->fetching) {
        step = STEP_WAIT;
    } else if (too_soon) {
        step = fresh ? STEP_UNKNOWN : STEP_UNAVAILABLE;
    } else {
        step = STEP_FETCH;
        jwks->fetching = true;
        jwks->last_attempt = now;
    }
    pthread_mutex_unlock(&jwks->mutex);
    return step;
}

enum jwks_outcome jwks_find(struct jwks *jwks, struct str kid, struct rs256_key **key)
{
    for (;;) {
        switch (next_step(jwks, kid, key)) {
        case STEP_FOUND: return JWKS_FOUND;
        case STEP_UNKNOWN: return JWKS_UNKNOWN;
        case STEP_UNAVAILABLE: return JWKS_UNAVAILABLE;
        case STEP_WAIT:
            if (!task_sleep(LOOK_AGAIN_MS))
                return JWKS_UNAVAILABLE;
            break;
        case STEP_FETCH:
            if (!fetch_and_keep(jwks))
                return JWKS_UNAVAILABLE;
            break;
        }
    }
}
