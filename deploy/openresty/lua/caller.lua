-- Whose request it is. The edge cannot tell users, it has neither their keys nor a database: it tells callers apart by
-- what they prove themselves with to the servers, of which only a keyed hash leaves this process. Somebody with two
-- sessions is two callers here; that each user has one seat is for the servers to see to.
--
-- A plain header that names the user proves nothing. It is dropped, unless EDGE_TRUST_USER_HEADER says that a gateway in
-- front of the edge has set it, and has dropped those of clients.

local settings = require "settings"

local caller = {}

local USER_MAX_BYTES = 128

local function hex(bytes)
    return (bytes:gsub(".", function(byte)
        return ("%02x"):format(byte:byte())
    end))
end

-- In the order in which the servers look: a token in the header, then the cookies.
local function proof()
    local authorization = ngx.var.http_authorization
    if authorization and authorization:sub(1, 7):lower() == "bearer " then
        return authorization:sub(8)
    end
    return ngx.var.cookie_access_token or ngx.var.cookie_guest
end

-- A name for the caller's lock; nil when there is no caller: the header is empty, too long or there twice, or there is
-- nothing at all.
function caller.name()
    local user = settings.trusts_user_header and ngx.req.get_headers(0)[settings.user_header]
    if user then
        local usable = type(user) == "string" and #user >= 1 and #user <= USER_MAX_BYTES
        return usable and "user:" .. user or nil
    end
    local proven = proof()
    return proven and proven ~= "" and "proof:" .. hex(ngx.hmac_sha1(settings.gateway_token, proven)) or nil
end

-- Before a request goes to a server: what only a gateway may say is dropped, or is the edge's own word. The sequence is
-- that of an attempt, else nil.
function caller.introduce(sequence)
    if not settings.trusts_user_header then
        ngx.req.clear_header(settings.user_header)
    end
    local vouches = sequence or settings.trusts_user_header
    ngx.req.set_header("X-Gateway-Token", vouches and settings.gateway_token or nil)
    ngx.req.set_header("X-Fcfs-Seq", sequence and ("%d"):format(sequence) or nil)
end

return caller
