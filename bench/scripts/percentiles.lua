-- wrk prints no 95th percentile by itself. Only done() is defined, so no request costs anything more.
function done(summary, latency, requests)
  for _, at in ipairs({ 50, 90, 95, 99 }) do
    io.write(string.format("percentile %d %.3f ms\n", at, latency:percentile(at) / 1000))
  end
end
