#include "coord/redis_scripts.h"

const char *const redis_scripts[REDIS_SCRIPTS] = {

    /* Locks, for many requests at once with few commands. All that are under one hash tag are fields of one hash, and
     * those taken in one call live as long as one key, the call's. A field's value is its owners, one behind the other:
     * of each the length of its name in two digits, the name, and the 16 letters of the call that took it.
     *
     * The hash outlives them all. A field of its own has a value too long for the compact form of small hashes, which
     * is searched from its beginning.
     *
     * KEYS: the hash, the call's key. ARGV: milliseconds to live; the letters; the limits of a request's names, which
     * are the same for all requests; the names of all requests; what each request adds to the values of its names.
     * Answers per request: 1 locked, 0 taken. */
    [SCRIPT_LOCK] =
        "local ttl, letters, limits = tonumber(ARGV[1]), ARGV[2], {}\n"
        "for limit in ARGV[3]:gmatch('%d+') do limits[#limits + 1] = tonumber(limit) end\n"
        "local count = #limits\n"
        "local requests = (#ARGV - 3) / (count + 1)\n"
        "local names_end = 3 + requests * count\n"
        "redis.call('SET', KEYS[2], '', 'PX', ttl)\n"
        "local held, taken = redis.call('HMGET', KEYS[1], unpack(ARGV, 4, names_end)), {}\n"
        "local front = KEYS[2]:sub(1, -1 - #letters)\n"
        "local function joined(value, place, limit)\n" /* nil: no place is left, or it is its owner's already */
        "    local count, rest, at = 0, '', 1\n"
        "    while at < #value do\n"
        "        local name_end = at + 1 + value:sub(at, at + 1)\n"
        "        if redis.call('EXISTS', front .. value:sub(name_end + 1, name_end + #letters)) == 1 then\n"
        "            if value:sub(at, name_end) == place:sub(1, -1 - #letters) then return end\n"
        "            count, rest = count + 1, rest .. value:sub(at, name_end + #letters)\n"
        "        end\n"
        "        at = name_end + #letters + 1\n"
        "    end\n"
        "    return count < limit and rest .. place or nil\n"
        "end\n"
        "local answers, changes, changed, before = {}, {}, 0, 3\n"
        "for request = 1, requests do\n"
        "    local place, answer, values = ARGV[names_end + request], 1, nil\n"
        "    for i = before + 1, before + count do\n"
        "        local value = taken[ARGV[i]] or held[i - 3]\n"
        "        if value then\n"
        "            value = joined(value, place, limits[i - before])\n"
        "            if not value then answer = 0 break end\n"
        "            values = values or {}\n"
        "            values[i] = value\n"
        "        end\n"
        "    end\n"
        "    if answer == 1 then\n"
        "        for i = before + 1, before + count do\n"
        "            local name, value = ARGV[i], values and values[i] or place\n"
        "            taken[name] = value\n"
        "            changes[changed + 1] = name\n"
        "            changes[changed + 2] = value\n"
        "            changed = changed + 2\n"
        "        end\n"
        "    end\n"
        "    answers[request] = answer\n"
        "    before = before + count\n"
        "end\n"
        "if changed > 0 then\n"
        "    local left = redis.call('PTTL', KEYS[1])\n"
        "    if left == -2 then redis.call('HSET', KEYS[1], '', string.rep('.', 65)) end\n"
        "    redis.call('HSET', KEYS[1], unpack(changes))\n"
        "    if left < ttl then redis.call('PEXPIRE', KEYS[1], 2 * ttl) end\n"
        "end\n"
        "return answers\n",

    /* Releases the names of many requests, each only where its owner holds it.
     *
     * KEYS: the hash. ARGV: how many names a request has, the same for all; the names of all requests; of each request
     * the length of its owner's name in two digits, and the name.
     * Answers per request: 1 all released, 0 one was not the owner's. */
    [SCRIPT_UNLOCK] =
        "local count = tonumber(ARGV[1])\n"
        "local requests = (#ARGV - 1) / (count + 1)\n"
        "local names_end = 1 + requests * count\n"
        "local held, after = redis.call('HMGET', KEYS[1], unpack(ARGV, 2, names_end)), {}\n"
        "local function without(value, owner)\n" /* nil: the owner is not there */
        "    local found, rest, at = false, '', 1\n"
        "    while at < #value do\n"
        "        local stop = at + 17 + value:sub(at, at + 1)\n"
        "        if value:sub(at, stop - 16) == owner then found = true else rest = rest .. value:sub(at, stop) end\n"
        "        at = stop + 1\n"
        "    end\n"
        "    return found and rest or nil\n"
        "end\n"
        "local answers, before = {}, 0\n"
        "for request = 1, requests do\n"
        "    local owner, answer = ARGV[names_end + request], 1\n"
        "    for i = before + 1, before + count do\n"
        "        local name = ARGV[i + 1]\n"
        "        local rest = without(after[name] or held[i] or '', owner)\n"
        "        if rest then after[name] = rest else answer = 0 end\n"
        "    end\n"
        "    answers[request] = answer\n"
        "    before = before + count\n"
        "end\n"
        "local gone, kept = {}, {}\n"
        "for name, rest in pairs(after) do\n"
        "    if rest == '' then gone[#gone + 1] = name else kept[#kept + 1], kept[#kept + 2] = name, rest end\n"
        "end\n"
        "if #gone > 0 then redis.call('HDEL', KEYS[1], unpack(gone)) end\n"
        "if #kept > 0 then redis.call('HSET', KEYS[1], unpack(kept)) end\n"
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
