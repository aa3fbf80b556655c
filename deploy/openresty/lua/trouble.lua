-- Tells about trouble with Redis, once a second and worker: while Redis is down, every request has the same to say.

local told -- the second of the latest line

return function(...)
    if ngx.time() ~= told then
        told = ngx.time()
        ngx.log(ngx.ERR, "Redis: ", ...)
    end
end
