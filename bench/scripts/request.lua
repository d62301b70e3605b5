-- Each request has a path and a header of its own, so each is made by Lua.
local count = 0

function request()
  count = count + 1
  return wrk.format("GET", "/item/" .. count, { ["X-Request"] = tostring(count) })
end
