-- Sign-ins with e-mails that differ, from addresses of their own, as fast as answers come; most are told to come later.
-- Prints how many answers of each kind there were as one line of JSON.
local body = '{"email":"flood-%s-%d-%07d@example.com","password":"not the password"}'
local run = os.getenv("RUN") or "0"
local length = #string.format(body, run, 1, 0)
local head = "POST /api/v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
  .. length .. "\r\nX-Forwarded-For: "
local threads, number = {}, 0
thread_id, checked, refused, wrong = 0, 0, 0, 0 -- seen from outside, so not local

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("thread_id", #threads)
end

function request()
  number = number + 1
  return head .. thread_id + 10 .. "." .. math.floor(number / 65536) % 256 .. "." .. math.floor(number / 256) % 256
    .. "." .. number % 256 .. "\r\n\r\n" .. string.format(body, run, thread_id, number)
end

function response(status)
  if status == 401 then
    checked = checked + 1
  elseif status == 503 then
    refused = refused + 1
  else
    wrong = wrong + 1
  end
end

function done(summary)
  local sum = { checked = 0, refused = 0, wrong = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(sum) do
      sum[name] = sum[name] + thread:get(name)
    end
  end
  io.write(string.format('{"seconds":%.6f,"checked":%d,"refused":%d,"errors":%d}\n', summary.duration / 1e6, sum.checked,
    sum.refused, sum.wrong + summary.errors.connect + summary.errors.read + summary.errors.write))
end
