-- GET PATH_UNDER_TEST by one user after the other, each with an access token of their own from the file TOKENS, in the
-- header Authorization or, with CREDENTIAL=cookie, in a cookie; with CREDENTIAL=none by nobody. Prints what it saw as one
-- line of JSON.
--
-- wrk shares the processors with the server, so its own work must be the same for all of them, and small: also for
-- nobody a token is read and put into a request, and tokens are read when needed, from a file that the kernel has in
-- memory. All of them at once in a string would make it touch new memory for every request.
local head = "GET " .. os.getenv("PATH_UNDER_TEST") .. " HTTP/1.1\r\nHost: localhost\r\n"
local fields = { bearer = "Authorization: Bearer ", cookie = "Cookie: access_token=" }
local field = fields[os.getenv("CREDENTIAL")]
local file = assert(io.open(os.getenv("TOKENS"))) -- one per line
file:setvbuf("full", 64 * 1024)

local function next_token()
  local token = file:read("*l")
  if token then return token end
  file:seek("set")
  return file:read("*l")
end

function request()
  local signed = head .. (field or fields.bearer) .. next_token() .. "\r\n\r\n"
  return field and signed or head .. "\r\n"
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
