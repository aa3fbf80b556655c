-- POSTs a small JSON body to PATH_UNDER_TEST and prints what it saw as one line of JSON.
wrk.method = "POST"
wrk.path = os.getenv("PATH_UNDER_TEST") or "/echo"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"userName":"Kim Minji","phone":"010-1234-5678"}'

function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.3f,"p99_ms":%.3f}\n',
    summary.requests, summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
