-- The settings, read from the environment and checked once, when nginx starts; a wrong one stops the start. They have
-- the names and meanings that they have for the server. Workers never see the environment, nor is a secret in a file.

local function fail(name, why)
    error("the edge cannot start: " .. name .. " " .. why, 0)
end

local function text(name, default)
    local value = os.getenv(name)
    if value == nil or value == "" then
        return default
    end
    return value
end

local function integer(name, default, lowest, highest)
    local value = text(name, tostring(default))
    local number = value:find("^%d+$") and #value <= 15 and tonumber(value)
    if not number or number < lowest or number > highest then
        fail(name, ("must be a whole number from %d to %d"):format(lowest, highest))
    end
    return number
end

local function choice(name, default, choices)
    local value = text(name, default)
    if not choices[value] then
        fail(name, "has an unknown value")
    end
    return value
end

-- redis://user:password@host:port/database, every part but the host optional.
local function redis_from_url(url)
    local place = url:match("^redis://(.+)$")
    if not place then
        fail("REDIS_URL", "must begin with redis://")
    end
    local credentials, rest = place:match("^(.*)@([^@]*)$")
    local username, password = (credentials or ""):match("^([^:]*):?(.*)$")
    local address, database = (rest or place):match("^([^/]+)/?(%d*)$")
    if not address then
        fail("REDIS_URL", "must look like redis://user:password@host:6379/0")
    end
    local host, port = address:match("^(.-):(%d+)$")
    return {
        host = host or address,
        port = tonumber(port or 6379),
        username = ngx.unescape_uri(username),
        password = ngx.unescape_uri(password),
        database = tonumber(database) or 0,
    }
end

local function redis_from_parts()
    return {
        host = text("REDIS_HOST", "127.0.0.1"),
        port = integer("REDIS_PORT", 6379, 1, 65535),
        username = "",
        password = text("REDIS_PASSWORD", ""),
        database = integer("REDIS_DATABASE", 0, 0, 9999),
    }
end

local function redis_settings()
    local url = text("REDIS_URL")
    local redis = url and redis_from_url(url) or redis_from_parts()
    if redis.host == "localhost" then
        redis.host = "127.0.0.1" -- nginx asks the name server, which need not know it
    end
    redis.timeout_ms = integer("REDIS_TIMEOUT_MS", 800, 10, 10000)
    return redis
end

-- Without it the servers would not believe our sequence, and every client could make up one.
local function gateway_token()
    local token = text("GATEWAY_TOKEN")
    if not token then
        fail("GATEWAY_TOKEN", "is not set; the servers need the same one")
    end
    if #token < 16 then
        fail("GATEWAY_TOKEN", "must have at least 16 bytes")
    end
    if token:find("[^\33-\126]") then
        fail("GATEWAY_TOKEN", "may only have visible ASCII characters")
    end
    return token
end

-- "https://a.example,https://b.example" becomes a set.
local function cors_origins()
    local origins = {}
    for origin in text("CORS_ORIGINS", ""):gmatch("[^, ]+") do
        origins[origin] = true
    end
    return origins
end

-- The servers' names in Redis begin with this, so that several installations can share one.
local function key_prefix()
    local installation = text("EDGE_INSTALLATION", "")
    if installation:find("[^%w_-]") then
        fail("EDGE_INSTALLATION", "is not the id of an installation, as `tickettock migrate` prints it")
    end
    return installation == "" and "" or "tickettock:" .. installation .. ":"
end

local user_header = text("FCFS_USER_HEADER", "X-User-Id")
if user_header:find("[^%w-]") then
    fail("FCFS_USER_HEADER", "is not the name of a header")
end

return {
    user_header = user_header,
    trusts_user_header = choice("EDGE_TRUST_USER_HEADER", "0", { ["0"] = true, ["1"] = true }) == "1",
    schedule = text("FCFS_SCHEDULE", "demo"),
    duplicate_policy = choice("FCFS_DUP_POLICY", "both", { both = true, user = true, ip = true, off = true }),
    duplicate_ttl_ms = integer("FCFS_DUP_TTL", 5, 1, 3600) * 1000,
    ip_concurrency = integer("FCFS_IP_CONCURRENCY", 1, 1, 10000),
    gateway_token = gateway_token(),
    cors_origins = cors_origins(),
    redis = redis_settings(),
    key_prefix = key_prefix(),
}
