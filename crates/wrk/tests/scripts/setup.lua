-- Gives each thread a number, and at the end adds up what the threads counted.

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
  thread:set("id", #threads)
end

function init(args)
  requests, responses = 0, 0
end

function request()
  requests = requests + 1
  return wrk.request()
end

function response(status, headers, body)
  responses = responses + 1
end

function done(summary, latency, rates)
  for _, thread in ipairs(threads) do
    local id, sent, answered = thread:get("id"), thread:get("requests"), thread:get("responses")
    print(("thread %d made %d requests and got %d responses"):format(id, sent, answered))
  end
end
