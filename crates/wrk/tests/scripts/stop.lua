-- Ends the load of a thread after a hundred responses.

local left = 100

function response()
  left = left - 1
  if left == 0 then
    wrk.thread:stop()
  end
end
