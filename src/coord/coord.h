/*
 * The coordination port: fast shared state with atomic operations. `local`
 * keeps it in this process; `redis` shares it between the servers of a fleet.
 * Nothing here is the truth: what is lost (a restart, an emptied Redis) is
 * rebuilt or expires. All functions are called from tasks and may wait, at most
 * about a second, also when Redis is down.
 */
#ifndef COORD_COORD_H
#define COORD_COORD_H

#include "base/arena.h"
#include "base/str.h"

struct coord;

enum coord_outcome {
    COORD_OK,
    COORD_TAKEN,       /* a lock's key is held by somebody else */
    COORD_LIMITED,     /* a rate window is full */
    COORD_MISSING,     /* no such key */
    COORD_UNAVAILABLE, /* not reachable, or no answer in time: it may or may not have happened */
    COORD_FAILED,      /* reachable, but the command failed (script error, out of memory); logged */
};

/* Longer keys, owners and values are refused with COORD_FAILED. */
enum { COORD_KEY_MAX = 512, COORD_OWNER_MAX = 64, COORD_VALUE_MAX = 1024 * 1024, COORD_PREFIX_MAX = 64 };

/* Keys of one operation must share a hash tag ("{7}:dup:user:alice", "{7}:dup:ip:1.2.3.4"),
 * so that they live on one node of a Redis Cluster. */

/* Duplicate lock: takes all keys or none, in one atomic step, for `ttl_ms`. A key may be held by up
 * to `limit` owners at once. Taking a key again is COORD_TAKEN for its owner, too: so every attempt has an owner
 * of its own (a random id). Only the owner releases; a released or expired key is free at once. Releasing is
 * COORD_MISSING when one of the keys was not the owner's, or has expired and somebody else has it now (one that has
 * expired and that nobody has taken since counts either way); the others are released all the same. */
struct coord_lock_key {
    struct str key;
    uint32_t limit; /* 1 and more */
};
enum { COORD_LOCK_KEYS = 4 };
struct coord_lock {
    const struct coord_lock_key *keys;
    size_t count;
    struct str owner;
    int64_t ttl_ms;
    /* From coord_lock for coord_unlock, which need not look whose it is while that is certain. 0: not known. */
    int64_t certain_until_ns;
    uint64_t connection;
};
__attribute__((warn_unused_result)) enum coord_outcome coord_lock(struct coord *coord, struct coord_lock *lock);
enum coord_outcome coord_unlock(struct coord *coord, const struct coord_lock *lock);

/* 1, 2, 3 …: each value is given once while the state lasts. */
__attribute__((warn_unused_result)) enum coord_outcome coord_sequence(struct coord *coord, struct str key,
                                                                      int64_t *value);

/* Raises a sequence to at least `floor` (after a restart with an emptied state). */
__attribute__((warn_unused_result)) enum coord_outcome coord_sequence_raise(struct coord *coord, struct str key,
                                                                            int64_t floor);

/* Adds and tells the sum; the first addition starts the time to live. */
__attribute__((warn_unused_result)) enum coord_outcome coord_count(struct coord *coord, struct str key, int64_t add,
                                                                   int64_t ttl_ms, int64_t *sum);

/* Sliding window: COORD_OK when fewer than `limit` calls were admitted in the last `window_ms`, and counts
 * this one; else COORD_LIMITED and how long until the next place. Exact under concurrency. */
__attribute__((warn_unused_result)) enum coord_outcome coord_rate(struct coord *coord, struct str key, uint32_t limit,
                                                                  int64_t window_ms, int64_t *retry_after_ms);

/* Key/value; ttl_ms 0 = for ever. */
__attribute__((warn_unused_result)) enum coord_outcome coord_set(struct coord *coord, struct str key, struct str value,
                                                                 int64_t ttl_ms);
/* `ttl_ms` (may be NULL): the time left, 0 for ever. */
__attribute__((warn_unused_result)) enum coord_outcome
coord_get(struct coord *coord, struct str key, struct arena *arena, struct str *value, int64_t *ttl_ms);
__attribute__((warn_unused_result)) enum coord_outcome coord_delete(struct coord *coord, struct str key);

/* Publish/subscribe. At most once: what was published while a subscriber was cut off is lost to it, and it is
 * told so by `gap` when it is connected again (also at the first connection), to read the truth anew. Both are called
 * on the loop that subscribed, outside of tasks. Messages of one publisher arrive in order. */
__attribute__((warn_unused_result)) enum coord_outcome coord_publish(struct coord *coord, struct str channel,
                                                                     struct str message);
struct coord_subscriber {
    void (*message)(void *context, struct str message);
    void (*gap)(void *context);
    void *context;
};
struct coord_subscription;
/* On a loop's thread. NULL when there is no memory. */
struct coord_subscription *coord_subscribe(struct coord *coord, struct str channel, struct coord_subscriber subscriber);
void coord_unsubscribe(struct coord_subscription *subscription);

struct coord_settings {
    const char *host; /* NULL: in this process */
    int port;
    const char *username; /* NULL: none */
    const char *password; /* NULL: none */
    int database;
    /* Of every key and channel in Redis, so that several fleets can share one; NULL: none. Without braces. */
    const char *prefix;
    int64_t timeout_ms; /* per command */
    size_t max_entries; /* in this process: keys kept at most, half of them other than locks; a full table answers
                           COORD_FAILED */
};

/* Connects when first used. NULL when there is no memory. The program ignores SIGPIPE, as hiredis needs. */
struct coord *coord_open(const struct coord_settings *settings);

/* On each loop, after its tasks have ended and before it is destroyed: closes the loop's connections. */
void coord_close_loop(struct coord *coord);
/* When no loop runs any more. */
void coord_close(struct coord *coord);

/* NULL when it works, else why not, in words for /readyz; the text stays until coord_close. Any thread; on a loop,
 * the first question also begins to connect, so that a server without requests becomes ready. */
const char *coord_trouble(struct coord *coord);

#endif
