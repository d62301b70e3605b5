# An application for Unicorn that writes to SQLite, which lets one writer in at a time, for 5 ms.
require "sqlite3"

folder = ENV.fetch("FOLDER")
# One file for all, unless FILES says how many.
files = Integer(ENV.fetch("FILES", "1"))
opened = {}

database = lambda do
  opened[Process.pid] ||= begin
    one = SQLite3::Database.new("#{folder}/orders-#{Process.pid % files}.db")
    one.busy_handler { sleep 0.001; true }
    one.execute("PRAGMA synchronous = OFF")
    one.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, at REAL)")
    one
  end
end

run(lambda do |request|
  if request["PATH_INFO"] != "/healthz"
    database.call.transaction(:immediate) do |orders|
      orders.execute("INSERT INTO orders (at) VALUES (?)", [Time.now.to_f])
      sleep 0.005
    end
  end
  [200, { "Content-Length" => "2" }, ["ok"]]
end)
