-- Sends three requests at once, made before the load begins.

local batch

function init(args)
  local paths = { "/first", "/second", args[1] or "/third" }
  for i, path in ipairs(paths) do
    paths[i] = wrk.format(nil, path)
  end
  batch = table.concat(paths)
end

function request()
  return batch
end
