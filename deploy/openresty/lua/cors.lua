-- Lets pages of the origins in CORS_ORIGINS read the edge's own answers, as the servers do for theirs.

local origins = require("settings").cors_origins

return function()
    if next(origins) == nil then
        return
    end
    ngx.header["Vary"] = "Origin"
    local origin = ngx.var.http_origin
    if origin and (origins["*"] or origins[origin]) then
        ngx.header["Access-Control-Allow-Origin"] = origins["*"] and "*" or origin
        ngx.header["Access-Control-Expose-Headers"] = "X-Trace-Id, ETag, Retry-After"
    end
end
