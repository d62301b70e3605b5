-- Prints percentiles and totals as comma-separated values, to standard output or to the file named in REPORT.

function done(summary, latency, requests)
  local name = os.getenv("REPORT")
  local out = name and assert(io.open(name, "w")) or io.stdout
  for _, p in ipairs({ 50, 90, 99, 99.999 }) do
    out:write(string.format("p%g,%d\n", p, latency:percentile(p)))
  end
  out:write(string.format("requests,%d\nduration_us,%d\n", summary.requests, summary.duration))
  if name then
    out:close()
  end
end
