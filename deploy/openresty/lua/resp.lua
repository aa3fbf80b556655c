-- RESP, the protocol of Redis (version 2): one command as text, and one reply read from a socket.

local resp = {}

-- {"SET", "key", 5}: an array of strings, each with its length in bytes.
function resp.encode(command)
    local parts = { "*", #command, "\r\n" }
    for _, argument in ipairs(command) do
        local value = tostring(argument)
        parts[#parts + 1] = "$" .. #value .. "\r\n" .. value .. "\r\n"
    end
    return table.concat(parts)
end

local function read_text(socket, length)
    if length < 0 then
        return ngx.null
    end
    local text, problem = socket:receive(length + 2) -- and the line's end
    if not text then
        return nil, problem
    end
    return text:sub(1, length)
end

local function read_array(socket, length)
    if length < 0 then
        return ngx.null
    end
    local array = {}
    for index = 1, length do
        local value, problem = resp.read(socket)
        if value == nil then
            return nil, problem
        end
        array[index] = value
    end
    return array
end

-- A string, a number, an array, ngx.null, or {error = text} when Redis refuses the command. nil and the problem when
-- the connection cannot be used any more.
function resp.read(socket)
    local line, problem = socket:receive("*l")
    if not line then
        return nil, problem
    end
    local kind, rest = line:sub(1, 1), line:sub(2)
    if kind == "+" then
        return rest
    elseif kind == "-" then
        return { error = rest }
    end
    local number = tonumber(rest)
    if kind == ":" and number then
        return number
    elseif kind == "$" and number then
        return read_text(socket, number)
    elseif kind == "*" and number then
        return read_array(socket, number)
    end
    return nil, "not a reply of Redis: " .. line:sub(1, 40)
end

return resp
