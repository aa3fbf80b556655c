-- Releases locks for requests that have ended otherwise than by an answer of ours. In the log phase no socket can be
-- used, so they are put into a list, and a timer takes the list.

local admission = require "admission"

local waiting = {}

local function release_all()
    local attempts = waiting
    waiting = {}
    admission.release(attempts)
end

return function(attempt)
    table.insert(waiting, attempt)
    if #waiting == 1 then
        ngx.timer.at(0, release_all) -- also allowed while the worker is shutting down
    end
end
