#include "coord/redis_scripts.h"

const char *const redis_scripts[REDIS_SCRIPTS] = {

    /* Takes locks for many requests, for each all of its keys or none. A key with limit 1 is a string with its
     * owner; with a higher limit it is a sorted set of owners by the time they expire. When a limit was changed
     * meanwhile, the other form counts as taken until it expires. Errors (out of memory) fail one request only.
     * ARGV, per request: how many keys, owner, milliseconds to live, the limit of each key.
     * Answers per request: 1 locked, 0 taken, -1 failed. */
    [SCRIPT_LOCK] =
        "local now\n"
        "local function take(key, limit, owner, ttl)\n"
        "    if limit == '1' then\n"
        "        local set = redis.pcall('SET', key, owner, 'NX', 'PX', ttl)\n"
        "        return set and (set.err and -1 or 1) or 0\n"
        "    end\n"
        "    if not now then\n"
        "        local time = redis.call('TIME')\n"
        "        now = time[1] * 1000 + math.floor(time[2] / 1000)\n"
        "    end\n"
        "    if type(redis.pcall('ZREMRANGEBYSCORE', key, '-inf', now)) == 'table' then return 0 end\n"
        "    if redis.call('ZCARD', key) >= tonumber(limit) or redis.call('ZSCORE', key, owner) then return 0 end\n"
        "    if type(redis.pcall('ZADD', key, now + ttl, owner)) == 'table' then return -1 end\n"
        "    if redis.call('PTTL', key) < tonumber(ttl) then redis.call('PEXPIRE', key, ttl) end\n"
        "    return 1\n"
        "end\n"
        "local function give_back(key, limit, owner)\n"
        "    if limit == '1' then redis.call('DEL', key) else redis.call('ZREM', key, owner) end\n"
        "end\n"
        "local answers, key, arg = {}, 1, 1\n"
        "while ARGV[arg] do\n"
        "    local count, owner, ttl = tonumber(ARGV[arg]), ARGV[arg + 1], ARGV[arg + 2]\n"
        "    local answer, taken = 1, 0\n"
        "    while taken < count do\n"
        "        answer = take(KEYS[key + taken], ARGV[arg + 3 + taken], owner, ttl)\n"
        "        if answer ~= 1 then break end\n"
        "        taken = taken + 1\n"
        "    end\n"
        "    if answer ~= 1 then\n"
        "        for i = 0, taken - 1 do give_back(KEYS[key + i], ARGV[arg + 3 + i], owner) end\n"
        "    end\n"
        "    answers[#answers + 1] = answer\n"
        "    key, arg = key + count, arg + 3 + count\n"
        "end\n"
        "return answers\n",

    /* Releases the keys of many requests, each only where its owner holds it, in either form: one command to look at
     * all of them and one to delete.
     * ARGV, per request: how many keys, owner. Answers per request: 1 all released, 0 one was not the owner's. */
    [SCRIPT_UNLOCK] = "local held, own = redis.call('MGET', unpack(KEYS)), {}\n"
                      "local answers, key, arg = {}, 1, 1\n"
                      "while ARGV[arg] do\n"
                      "    local owner, answer = ARGV[arg + 1], 1\n"
                      "    for i = 1, tonumber(ARGV[arg]) do\n"
                      "        if held[key] == owner then\n"
                      "            own[#own + 1] = KEYS[key]\n"
                      "        elseif held[key] or redis.pcall('ZREM', KEYS[key], owner) ~= 1 then\n"
                      "            answer = 0\n"
                      "        end\n"
                      "        key = key + 1\n"
                      "    end\n"
                      "    answers[#answers + 1] = answer\n"
                      "    arg = arg + 2\n"
                      "end\n"
                      "if #own > 0 then redis.call('DEL', unpack(own)) end\n"
                      "return answers\n",

    /* Raises a sequence to at least ARGV[1]; exact up to 2^53, as Lua counts. */
    [SCRIPT_SEQUENCE_RAISE] =
        "if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) "
        "end\n"
        "return 1\n",

    /* Adds ARGV[1]; the first addition starts ARGV[2] milliseconds to live (0: for ever). */
    [SCRIPT_COUNT] =
        "local sum = redis.call('INCRBY', KEYS[1], ARGV[1])\n"
        "if ARGV[2] ~= '0' and redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end\n"
        "return sum\n",

    /* Keeps the last ARGV[1] admitted times in a list: when the oldest of them has left the window of ARGV[2]
     * milliseconds, there is a place. Answers 0 admitted, or the milliseconds until the next place. */
    [SCRIPT_RATE] = "local time = redis.call('TIME')\n"
                    "local now, window = time[1] * 1000000 + time[2], ARGV[2] * 1000\n"
                    "local oldest = redis.call('LINDEX', KEYS[1], -ARGV[1])\n"
                    "if oldest and now - oldest < window then\n"
                    "    return math.min(math.ceil((oldest + window - now) / 1000), tonumber(ARGV[2]))\n"
                    "end\n"
                    "redis.call('RPUSH', KEYS[1], now)\n"
                    "if oldest then redis.call('LTRIM', KEYS[1], -ARGV[1], -1) end\n"
                    "redis.call('PEXPIRE', KEYS[1], ARGV[2])\n"
                    "return 0\n",

    /* A value and its milliseconds to live at one moment. */
    [SCRIPT_GET] = "return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])}\n",
};
