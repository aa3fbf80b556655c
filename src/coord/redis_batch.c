#include "coord/redis_batch.h"

#include "base/random.h"

#include <assert.h>

enum { OWNER_DIGITS = 2 };

static_assert(REDIS_BATCH * (COORD_LOCK_KEYS + 1) + 8 <= REDIS_ARGUMENTS, "a full batch of locks is one command");
static_assert(REDIS_BATCH * (OWNER_DIGITS + COORD_OWNER_MAX + RANDOM_LETTERS) +
                      2 * (COORD_PREFIX_MAX + COORD_KEY_MAX + 32) + (COORD_LOCK_KEYS + 1) * REDIS_INT_BYTES <=
                  REDIS_TEXT,
              "and so is what is made for it");
static_assert(COORD_OWNER_MAX < 100, "two digits");

struct str redis_hash_tag(struct str key)
{
    ptrdiff_t open = str_find_char(key, '{');
    if (open < 0)
        return key;
    struct str rest = str_from_offset(key, (size_t)open + 1);
    ptrdiff_t length = str_find_char(rest, '}');
    return length > 0 ? str_first(rest, (size_t)length) : key;
}

/* Locks of the same number of keys, with the same limits and time to live, are one call. */
static bool are_alike(const struct redis_request *a, const struct redis_request *b)
{
    const struct coord_lock *first = a->data, *second = b->data;
    bool alike = first->count == second->count && first->ttl_ms == second->ttl_ms;
    for (size_t key = 0; alike && key < first->count; key++)
        alike = first->keys[key].limit == second->keys[key].limit;
    return alike;
}

static void add_hash(struct redis_command *command, const struct redis_request *request)
{
    REDIS_ADD_KEY(command, STR("locks:{"), request->group, STR("}"));
}

static void add_names(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct coord_lock *lock = requests[i]->data;
        for (size_t key = 0; key < lock->count; key++)
            redis_command_add(command, lock->keys[key].key);
    }
}

static void add_owners(struct redis_command *command, struct redis_request *const *requests, size_t count,
                       struct str letters)
{
    for (size_t i = 0; i < count; i++) {
        struct str owner = ((const struct coord_lock *)requests[i]->data)->owner;
        const char digits[OWNER_DIGITS] = {(char)('0' + owner.len / 10), (char)('0' + owner.len % 10)};
        REDIS_ADD_JOINED(command, str_make(digits, sizeof(digits)), owner, letters);
    }
}

static void compose_lock(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    const struct coord_lock *first = requests[0]->data;
    char letters[RANDOM_LETTERS];
    random_letters(letters);
    struct str call = str_make(letters, sizeof(letters));
    redis_command_add(command, STR("2"));
    add_hash(command, requests[0]);
    REDIS_ADD_KEY(command, STR("locks:{"), requests[0]->group, STR("}:"), call);
    redis_command_add_int(command, first->ttl_ms);
    REDIS_ADD_JOINED(command, call);
    int64_t limits[COORD_LOCK_KEYS];
    for (size_t key = 0; key < first->count; key++)
        limits[key] = first->keys[key].limit;
    redis_command_add_ints(command, limits, first->count);
    add_names(command, requests, count);
    add_owners(command, requests, count, call);
}

static void compose_unlock(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    redis_command_add(command, STR("1"));
    add_hash(command, requests[0]);
    redis_command_add_int(command, (int64_t)((const struct coord_lock *)requests[0]->data)->count);
    add_names(command, requests, count);
    add_owners(command, requests, count, STR(""));
}

static void compose_remove_locks(struct redis_command *command, struct redis_request *const *requests, size_t count)
{
    redis_command_add(command, STR("HDEL"));
    add_hash(command, requests[0]);
    add_names(command, requests, count);
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
    REDIS_ADD_KEY(command, requests[0]->group);
    redis_command_add_int(command, (int64_t)count);
}

/* In the order of the requests. */
static void share_values(struct redis_request *const *requests, size_t count, const redisReply *reply)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i])
            requests[i]->number = reply->integer - (int64_t)(count - 1 - i);
}

const struct redis_operation redis_lock_operation = {SCRIPT_LOCK, REDIS_BATCH, are_alike, compose_lock, share_elements};
const struct redis_operation redis_unlock_operation = {SCRIPT_UNLOCK, REDIS_BATCH, are_alike, compose_unlock,
                                                       share_elements};
const struct redis_operation redis_remove_locks_operation = {SCRIPT_NONE, REDIS_BATCH, NULL, compose_remove_locks,
                                                             NULL};
const struct redis_operation redis_sequence_operation = {SCRIPT_NONE, REDIS_BATCH, NULL, compose_sequence,
                                                         share_values};
