-- Spreads the threads over the addresses of the target, one after another.

local addresses = {}
local turn = 0

function setup(thread)
  if #addresses == 0 then
    for _, address in ipairs(wrk.lookup(wrk.host, wrk.port or "http")) do
      if wrk.connect(address) then
        addresses[#addresses + 1] = address
      end
    end
  end
  thread.addr = addresses[turn % #addresses + 1]
  turn = turn + 1
end

function init(args)
  print("a thread connects to " .. tostring(wrk.thread.addr))
end
