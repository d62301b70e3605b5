# Sinatra on WEBrick, with a thread for each of CLIENTS connections; each request waits for 40 ms: sinatra_webrick.rb PORT CLIENTS
require "sinatra/base"
require "webrick"

port, clients = ARGV.map { |text| Integer(text) }

class Waiting < Sinatra::Base
  configure do
    set :server, "webrick"
    set :bind, "0.0.0.0"
    set :environment, :production
    disable :logging
    disable :protection
  end
  get("/healthz") { "ok" }
  get("/") do
    sleep 0.04
    "waited"
  end
end

silent = WEBrick::Log.new(File::NULL)
Waiting.run!(port: port, server_settings: { MaxClients: clients, Logger: silent, AccessLog: [], DoNotReverseLookup: true })
