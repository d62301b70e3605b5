-- As many requests at a time as the number after `--` says; the text is made once and given out again and again.
local batch

function init(args)
  local one = wrk.format()
  batch = string.rep(one, tonumber(args[1]))
end

function request()
  return batch
end
