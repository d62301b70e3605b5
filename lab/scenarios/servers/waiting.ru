# An application for Rack servers that waits for 20 ms.
run(lambda do |request|
  sleep 0.02 unless request["PATH_INFO"] == "/healthz"
  [200, { "content-length" => "6" }, ["waited"]]
end)
