-- Claims by unique users from addresses of their own, to PATH_UNDER_TEST; prints what it saw as one line of JSON.
-- Every answer that is not 2xx counts as an error, unless EXPECTED_STATUS says what to expect instead.
local path = os.getenv("PATH_UNDER_TEST") or "/api/v1/seats/reservation/fcfs"
local run = os.getenv("RUN") or "0"
local body = '{"userName":"Kim Minji","phone":"010-1234-5678"}'
local head = "POST " .. path .. " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
  .. #body .. "\r\nX-User-Id: user-"
local threads, number = 0, 0
thread_id = 0 -- set from outside, so not local

function setup(thread)
  threads = threads + 1
  thread:set("thread_id", threads)
end

function request()
  number = number + 1
  return head .. run .. "-" .. thread_id .. "-" .. number .. "\r\nX-Forwarded-For: " .. thread_id + 10 .. "."
    .. math.floor(number / 65536) % 256 .. "." .. math.floor(number / 256) % 256 .. "." .. number % 256
    .. "\r\n\r\n" .. body
end

function done(summary, latency, requests)
  local e = summary.errors
  local wrong = e.connect + e.read + e.write + e.timeout
  if os.getenv("EXPECTED_STATUS") == "409" then
    wrong = wrong + summary.requests - e.status
  else
    wrong = wrong + e.status
  end
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, wrong, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
