-- An attempt to get a seat, from its first check to its answer.
--
-- The server's answer is taken in as a whole and sent on only after the locks are released: a client that asks again
-- right after its answer must not be told that its first attempt is still in progress.

local admission = require "admission"
local answer = require "answer"
local release_later = require "release_later"
local settings = require "settings"
local trouble = require "trouble"

local claim = {}

local USER_MAX_BYTES, SCHEDULE_MAX_BYTES = 128, 64

local REASON = {
    duplicate = "duplicate",
    unreachable = "service_unavailable",
    ["script failed"] = "redis_error",
    ["no sequence"] = "sequence_unavailable",
}

local function user_of_request()
    local user = ngx.req.get_headers(0)[settings.user_header]
    if type(user) == "string" and #user >= 1 and #user <= USER_MAX_BYTES then
        return user
    end
    return nil -- absent, empty, too long, or there twice
end

-- A brace would end the part of a key that says on which node of a Redis Cluster it is.
local function schedule_of_request()
    local schedule = ngx.req.get_uri_args(0).scheduleId
    if schedule == nil then
        return settings.schedule
    end
    return type(schedule) == "string" and #schedule >= 1 and #schedule <= SCHEDULE_MAX_BYTES
        and not schedule:find("[{}]") and schedule or nil
end

-- The client's own X-Fcfs-Seq and X-Gateway-Token, if any, are replaced.
local function ask_a_server(sequence)
    ngx.req.set_header("X-Fcfs-Seq", ("%d"):format(sequence))
    ngx.req.set_header("X-Gateway-Token", settings.gateway_token)
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
    local user, schedule = user_of_request(), schedule_of_request()
    if not user or not schedule then
        return answer.refuse(user and "validation" or "missing_user")
    end
    ngx.req.read_body() -- before the lock, which a slow sender would hold all the while

    local attempt = admission.new(schedule, user, network_of_client(), ngx.var.request_id)
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
