-- The table `wrk` as a script finds it, in so far as it is written in Lua. The chunk is called with the two
-- functions that need the network, and gives back the calls into the script that a run makes.
--
-- The hooks are global functions of the script and are looked up at every call, because a script may put another
-- function in their place while the load runs.

local lookup, connect = ...
local buffer = require("string.buffer")
local tostring, type, pairs, ipairs, tonumber = tostring, type, pairs, ipairs, tonumber

wrk = {
  scheme = "http",
  host = "localhost",
  method = "GET",
  path = "/",
  headers = {},
  lookup = lookup,
  connect = connect,
}
package.loaded.wrk = wrk

-- Keeps of a name's addresses those that accept a connection.
function wrk.resolve(host, service)
  local reachable = {}
  for _, address in ipairs(wrk.lookup(host, service)) do
    if wrk.connect(address) then
      reachable[#reachable + 1] = address
    end
  end
  wrk.addrs = reachable
end

function wrk.setup(thread)
  thread.addr = wrk.addrs[1]
  if type(setup) == "function" then
    setup(thread)
  end
end

local function authority()
  local name = wrk.host
  if name:find(":", 1, true) then
    name = "[" .. name .. "]"
  end
  return wrk.port and name .. ":" .. wrk.port or name
end

-- The request without arguments is rendered once, after the script's own init, and stays as it is from then on.
function wrk.init(args)
  wrk.headers["Host"] = wrk.headers["Host"] or authority()
  if type(init) == "function" then
    init(args)
  end
  local frozen = wrk.format()
  wrk.request = function() return frozen end
end

local text = buffer.new()

-- Scripts rely on Host and Content-Length being set in the very table that they pass.
function wrk.format(method, path, headers, body)
  headers, body = headers or wrk.headers, body or wrk.body
  headers["Host"] = headers["Host"] or wrk.headers["Host"]
  headers["Content-Length"] = body and #tostring(body) or nil

  text:reset():put(method or wrk.method, " ", path or wrk.path, " HTTP/1.1\r\n")
  for name, value in pairs(headers) do
    text:put(name, ": ", tostring(value), "\r\n")
  end
  return text:put("\r\n", body or ""):get()
end

-- What a script prints comes out in order with what Plimsoll prints around it, into a pipe as well.
io.stdout:setvbuf("line")

local calls = {}

function calls.request()
  local current = request
  if type(current) ~= "function" then
    current = wrk.request
  end
  return current()
end

function calls.delay()
  -- A function that returns nothing gives tonumber no argument, which is an error.
  local ms = delay()
  return tonumber(ms) or 0
end

function calls.response(status, headers, body)
  response(status, headers, body)
end

return calls
