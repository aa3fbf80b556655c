-- Who may make an attempt: at most one at a time for a user (and FCFS_IP_CONCURRENCY for an address), and each attempt
-- gets a number of the schedule's sequence. Redis decides, in one script, so that all edges agree.
--
-- A lock is a sorted set of owners, each with the time at which it is forgotten if nobody releases it (its edge died).
-- Only an owner can remove itself, and a set without members is no key.

local redis = require "redis"
local settings = require "settings"
local trouble = require "trouble"

local admission = {}

-- KEYS: the sequence, then the locks. ARGV: the owner, the time to live in ms, then how many owners each lock may have.
-- The sequence is drawn before the locks are taken, so that its failure leaves nothing to undo.
local SCRIPT = [[
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #KEYS do
    redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
    if redis.call('ZCARD', KEYS[i]) >= tonumber(ARGV[i + 1]) then
        return {'duplicate'}
    end
end
local sequence = redis.pcall('INCR', KEYS[1])
if type(sequence) == 'table' then
    return {'no sequence', sequence.err}
end
for i = 2, #KEYS do
    redis.call('ZADD', KEYS[i], now + ARGV[2], ARGV[1])
    redis.call('PEXPIRE', KEYS[i], ARGV[2])
end
return {'admitted', sequence}
]]
local SCRIPT_NAME = ngx.sha1_bin(SCRIPT):gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
end)

local LOCKS_USER = { both = true, user = true }
local LOCKS_IP = { both = true, ip = true }

-- The braces are for Redis Cluster: what one script touches must be on one node. The locks are the edge's own: a
-- server that has its own duplicate filter must not take us for another attempt.
function admission.new(schedule, caller, ip, owner)
    local prefix = settings.key_prefix
    local attempt = { owner = owner, sequence_key = prefix .. "{" .. schedule .. "}:fcfs:seq", lock_keys = {}, limits = {} }
    local function lock(key, limit)
        table.insert(attempt.lock_keys, prefix .. "edge:dup:{" .. schedule .. "}:" .. key)
        table.insert(attempt.limits, limit)
    end
    if LOCKS_USER[settings.duplicate_policy] then
        lock(caller, 1)
    end
    if LOCKS_IP[settings.duplicate_policy] then
        lock("ip:" .. ip, settings.ip_concurrency)
    end
    return attempt
end

local function script_call(attempt, command, script)
    local call = { command, script, 1 + #attempt.lock_keys, attempt.sequence_key }
    for _, key in ipairs(attempt.lock_keys) do
        table.insert(call, key)
    end
    table.insert(call, attempt.owner)
    table.insert(call, settings.duplicate_ttl_ms)
    for _, limit in ipairs(attempt.limits) do
        table.insert(call, limit)
    end
    return call
end

local function run_script(attempt)
    local replies, problem = redis.run { script_call(attempt, "EVALSHA", SCRIPT_NAME) }
    if replies and replies[1].error and replies[1].error:find("^NOSCRIPT") then
        replies, problem = redis.run { script_call(attempt, "EVAL", SCRIPT) }
    end
    return replies and replies[1], problem
end

-- "admitted" and the sequence; "duplicate"; or "unreachable", "script failed", "no sequence" and the problem.
function admission.admit(attempt)
    attempt.may_hold_locks = true -- from now on, and also when we never hear what became of it
    local reply, problem = run_script(attempt)
    if not reply then
        return "unreachable", problem
    end
    attempt.may_hold_locks = not reply.error and reply[1] == "admitted"
    if reply.error then
        return "script failed", reply.error
    end
    return reply[1], reply[2]
end

-- Else made-up schedules would fill Redis.
function admission.forget_sequence(attempt)
    redis.run { { "DEL", attempt.sequence_key } }
end

-- Gives the locks of several attempts back, in one round trip. Should that fail, they end by themselves.
function admission.release(attempts)
    local commands = {}
    for _, attempt in ipairs(attempts) do
        if attempt.may_hold_locks then
            attempt.may_hold_locks = false
            for _, key in ipairs(attempt.lock_keys) do
                table.insert(commands, { "ZREM", key, attempt.owner })
            end
        end
    end
    if #commands == 0 then
        return
    end
    local replies, problem = redis.run(commands)
    if not replies then
        trouble("locks could not be released: ", problem)
    end
end

return admission
