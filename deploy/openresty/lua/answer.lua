-- Answers that the edge gives itself, in the words and shapes of the server.

local allow_origin = require "cors"
local settings = require "settings"

local answer = {}

local WHO_ARE_YOU = settings.trusts_user_header
    and "Send the header " .. settings.user_header .. " once, with 1 to 128 bytes."
    or "Nobody is named who could buy. Please sign in, or be a guest (POST /api/v1/auth/guest)."

local REASONS = {
    missing_user = { 400, WHO_ARE_YOU },
    validation = { 400, "scheduleId must be there once, with 1 to 64 bytes and without braces." },
    duplicate = { 409, "Another attempt of this user or address is in progress." },
    body_too_large = { 413, "The body is larger than this address takes." },
    internal_error = { 500, "Something went wrong on our side. Please tell us the trace id." },
    service_unavailable = { 503, "A part of the service cannot be reached. Please try again in a moment." },
    redis_error = { 503, "The duplicate filter failed. Please try again in a moment." },
    sequence_unavailable = { 503, "No sequence number could be drawn. Please try again in a moment." },
}

local SEAT_FIELDS = [["seat_id":null,"reserved_by":null,]]
local PRD_BAD_REQUEST, PRD_FAILURE = [["error":"bad request",]], [["error":"internal error",]]

-- All texts are our own, without characters that JSON would have to escape.
local function body_of(reason, status, message)
    local prd = ngx.var.contract == "prd"
    if prd and reason == "duplicate" then
        return [[{"success":false,"reason":"duplicate request"}]]
    end
    local extra = ngx.var.contract == "fcfs" and SEAT_FIELDS or ""
    if prd then
        extra = status < 500 and PRD_BAD_REQUEST or PRD_FAILURE
    end
    return ([[{"success":false,"reason":"%s","message":"%s",%s"traceId":"%s"}]]):format(
        reason, message, extra, ngx.var.trace_id)
end

-- ?wrap=1 is for people who look at answers with simple tools. (A server's answers are wrapped by the server.)
local function wrapped(body, status)
    if ngx.var.arg_wrap ~= "1" then
        return body
    end
    return ([[{"gatewayWrapped":true,"status":%d,"body":%s}]]):format(status, body)
end

function answer.refuse(reason)
    local status, message = unpack(REASONS[reason])
    local body = wrapped(body_of(reason, status, message), status)
    ngx.status = status
    ngx.header["Content-Type"] = "application/json"
    ngx.header["Content-Length"] = #body
    ngx.header["Cache-Control"] = "no-store"
    ngx.header["X-Trace-Id"] = ngx.var.trace_id
    allow_origin()
    if status == 503 then
        ngx.header["Retry-After"] = math.random(1, 3) -- not all at the same moment
    end
    ngx.print(body)
end

-- Where nginx itself has refused or failed; above all, when no server answers.
local FAILED = { [413] = "body_too_large", [500] = "internal_error", [503] = "service_unavailable" }
function answer.failed()
    answer.refuse(FAILED[ngx.status])
end

-- A server's answer, as it is.
function answer.forward(response)
    ngx.status = response.status
    for name, value in pairs(response.header) do
        ngx.header[name] = value
    end
    ngx.header["Content-Length"] = #response.body
    ngx.print(response.body)
end

return answer
