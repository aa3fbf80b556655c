-- The same request each time: METHOD (POST) to PATH_UNDER_TEST (/echo), with a small JSON body unless it is a GET, and
-- If-None-Match from IF_NONE_MATCH. Prints what it saw as one line of JSON.
wrk.method = os.getenv("METHOD") or "POST"
wrk.path = os.getenv("PATH_UNDER_TEST") or "/echo"
if wrk.method ~= "GET" then
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = '{"userName":"Kim Minji","phone":"010-1234-5678"}'
end
if os.getenv("IF_NONE_MATCH") then
  wrk.headers["If-None-Match"] = os.getenv("IF_NONE_MATCH")
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
