-- Logs in with the first request, and sends the token it is given with all that follow.

local token

function request()
  return wrk.format("GET", token and "/resource" or "/authenticate")
end

function response(status, headers)
  if not token and status == 200 then
    token = headers["X-Token"]
    wrk.headers["X-Token"] = token
  end
end
