-- Redis over nginx's own sockets: a bounded pool of connections per worker, several commands in one round trip.
-- Waits without blocking the worker, and never longer than REDIS_TIMEOUT_MS for each step.

local resp = require "resp"
local settings = require("settings").redis

local redis = {}

local POOL = {
    pool = ("redis %s:%d/%d"):format(settings.host, settings.port, settings.database),
    pool_size = 128, -- per worker
    backlog = 8192, -- requests that wait for one of them
}
local IDLE_MS = 60000

local function exchange(socket, commands)
    local texts = {}
    for index, command in ipairs(commands) do
        texts[index] = resp.encode(command)
    end
    local sent, problem = socket:send(texts)
    if not sent then
        return nil, problem
    end
    local replies = {}
    for index = 1, #commands do
        replies[index], problem = resp.read(socket)
        if replies[index] == nil then
            return nil, problem
        end
    end
    return replies
end

-- What a new connection has to say first; nil when Redis does not let us in.
local function introduce(socket)
    local commands = {}
    if settings.username ~= "" then
        commands[#commands + 1] = { "AUTH", settings.username, settings.password }
    elseif settings.password ~= "" then
        commands[#commands + 1] = { "AUTH", settings.password }
    end
    if settings.database ~= 0 then
        commands[#commands + 1] = { "SELECT", settings.database }
    end
    local replies, problem = exchange(socket, commands)
    for _, reply in ipairs(replies or {}) do
        if reply.error then
            return nil, reply.error
        end
    end
    return replies, problem
end

local function connect()
    local socket = ngx.socket.tcp()
    socket:settimeouts(settings.timeout_ms, settings.timeout_ms, settings.timeout_ms)
    local connected, problem = socket:connect(settings.host, settings.port, POOL)
    if not connected then
        return nil, problem
    end
    if socket:getreusedtimes() == 0 then
        local welcome
        welcome, problem = introduce(socket)
        if not welcome then
            socket:close()
            return nil, problem
        end
    end
    return socket
end

-- Runs the commands in order. Their replies; or nil and the problem when Redis cannot be reached or did not answer in
-- time: then each may or may not have happened.
function redis.run(commands)
    local socket, problem = connect()
    if not socket then
        return nil, problem
    end
    local replies
    replies, problem = exchange(socket, commands)
    if not replies then
        socket:close()
        return nil, problem
    end
    socket:setkeepalive(IDLE_MS)
    return replies
end

return redis
