-- GET PATH_UNDER_TEST by one user after the other, each with an access token of their own from the file TOKENS, in the
-- header Authorization or, with CREDENTIAL=cookie, in a cookie; with CREDENTIAL=none by nobody. Prints what it saw as one
-- line of JSON.
local head = "GET " .. os.getenv("PATH_UNDER_TEST") .. " HTTP/1.1\r\nHost: localhost\r\n"
local field = ({ bearer = "Authorization: Bearer ", cookie = "Cookie: access_token=" })[os.getenv("CREDENTIAL")]
local file = assert(io.open(os.getenv("TOKENS")))
local tokens = file:read("*a") -- one per line, all of one length; cut when needed, since wrk's clock runs already
local length = tokens:find("\n")
local at = 1
file:close()

function request()
  local token = tokens:sub(at, at + length - 2)
  at = at + length < #tokens and at + length or 1
  return field and head .. field .. token .. "\r\n\r\n" or head .. "\r\n"
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
