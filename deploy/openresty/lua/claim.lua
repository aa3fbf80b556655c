-- An attempt to get a seat, from its first check to its answer.
--
-- The server's answer is taken in as a whole and sent on only after the locks are released: a client that asks again
-- right after its answer must not be told that its first attempt is still in progress.

local admission = require "admission"
local answer = require "answer"
local caller = require "caller"
local release_later = require "release_later"
local settings = require "settings"
local trouble = require "trouble"

local claim = {}

local SCHEDULE_MAX_BYTES = 64

local REASON = {
    duplicate = "duplicate",
    unreachable = "service_unavailable",
    ["script failed"] = "redis_error",
    ["no sequence"] = "sequence_unavailable",
}

-- A brace would end the part of a key that says on which node of a Redis Cluster it is.
local function schedule_of_request()
    local schedule = ngx.req.get_uri_args(0).scheduleId
    if schedule == nil then
        return settings.schedule
    end
    return type(schedule) == "string" and #schedule >= 1 and #schedule <= SCHEDULE_MAX_BYTES
        and not schedule:find("[{}]") and schedule or nil
end

local function ask_a_server(sequence)
    caller.introduce(sequence)
    return ngx.location.capture("/let-through" .. ngx.var.uri, {
        method = ngx.HTTP_POST,
        args = ngx.var.args,
        always_forward_body = true,
    })
end

-- One who has IPv6 has a whole /64 of it, which counts as one address; an IPv4 address in IPv6's clothes stays itself.
local function network_of_client()
    local bytes = ngx.var.binary_remote_addr
    if #bytes == 4 or bytes:sub(1, 12) == ("\0"):rep(10) .. "\255\255" then
        return ngx.var.remote_addr
    end
    return (bytes:sub(1, 8):gsub(".", function(byte)
        return ("%02x"):format(byte:byte())
    end))
end

function claim.serve()
    if ngx.req.get_method() ~= "POST" then
        return ngx.exec("@servers")
    end
    local name, schedule = caller.name(), schedule_of_request()
    if not name or not schedule then
        return answer.refuse(name and "validation" or "missing_user")
    end
    ngx.req.read_body() -- before the lock, which a slow sender would hold all the while

    local attempt = admission.new(schedule, name, network_of_client(), ngx.var.request_id)
    ngx.ctx.attempt = attempt
    local outcome, detail = admission.admit(attempt)
    if outcome ~= "admitted" then
        if outcome ~= "duplicate" then
            trouble(outcome, ": ", detail, ", trace ", ngx.var.trace_id)
        end
        return answer.refuse(REASON[outcome])
    end
    local response = ask_a_server(detail)
    if response.status == ngx.HTTP_NOT_FOUND then
        admission.forget_sequence(attempt) -- there is no such schedule
    end
    admission.release { attempt }
    if response.truncated then
        return answer.refuse("service_unavailable")
    end
    answer.forward(response)
end

-- In the log phase, however the request ended.
function claim.finish()
    local attempt = ngx.ctx.attempt
    if attempt and attempt.may_hold_locks then
        release_later(attempt)
    end
end

return claim
