-- Numbers the requests, in the path and in a header field.

local count = 0

function request()
  count = count + 1
  wrk.headers["X-Counter"] = count
  return wrk.format(nil, "/" .. count)
end
