#include "coord/redis_batch.h"

#include <assert.h>

static_assert(REDIS_BATCH * (2 * COORD_LOCK_KEYS + 3) + 3 <= REDIS_ARGUMENTS, "a full batch of locks is one command");
static_assert((REDIS_BATCH * (COORD_LOCK_KEYS + 2) + 2) * 21 <= REDIS_DIGITS, "and so are its numbers");

struct str redis_hash_tag(struct str key)
{
    ptrdiff_t open = str_find_char(key, '{');
    if (open < 0)
        return key;
    struct str rest = str_from_offset(key, (size_t)open + 1);
    ptrdiff_t length = str_find_char(rest, '}');
    return length > 0 ? str_first(rest, (size_t)length) : key;
}

static void add_keys(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    size_t keys = 0;
    for (size_t i = 0; i < count; i++)
        keys += ((const struct redis_lock *)requests[i]->data)->count;
    redis_command_add_int(command, (int64_t)keys);
    for (size_t i = 0; i < count; i++) {
        const struct redis_lock *lock = requests[i]->data;
        for (size_t key = 0; key < lock->count; key++)
            redis_command_add(command, lock->keys[key].key);
    }
}

static void compose_lock(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    add_keys(command, requests, count);
    for (size_t i = 0; i < count; i++) {
        const struct redis_lock *lock = requests[i]->data;
        redis_command_add_int(command, (int64_t)lock->count);
        redis_command_add(command, lock->owner);
        redis_command_add_int(command, lock->ttl_ms);
        for (size_t key = 0; key < lock->count; key++)
            redis_command_add_int(command, lock->keys[key].limit);
    }
}

static void compose_unlock(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    add_keys(command, requests, count);
    for (size_t i = 0; i < count; i++) {
        const struct redis_lock *lock = requests[i]->data;
        redis_command_add_int(command, (int64_t)lock->count);
        redis_command_add(command, lock->owner);
    }
}

static void share_elements(struct redis_request *const *requests, size_t count, const redisReply *reply)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i])
            requests[i]->reply = reply->type == REDIS_REPLY_ARRAY && i < reply->elements ? reply->element[i] : NULL;
}

/* One INCRBY draws a value for each request. */
static void compose_sequence(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    redis_command_add(command, STR("INCRBY"));
    redis_command_add(command, requests[0]->group);
    redis_command_add_int(command, (int64_t)count);
}

/* In the order of the requests. */
static void share_values(struct redis_request *const *requests, size_t count, const redisReply *reply)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i])
            requests[i]->number = reply->integer - (int64_t)(count - 1 - i);
}

const struct redis_operation redis_lock_operation = {SCRIPT_LOCK, REDIS_BATCH, compose_lock, share_elements};
const struct redis_operation redis_unlock_operation = {SCRIPT_UNLOCK, REDIS_BATCH, compose_unlock, share_elements};
const struct redis_operation redis_sequence_operation = {SCRIPT_NONE, REDIS_BATCH, compose_sequence, share_values};
