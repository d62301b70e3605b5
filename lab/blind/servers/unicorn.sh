#!/bin/sh
# Unicorn with a fixed number of processes: unicorn.sh FOLDER WORKERS SCRIPT
set -eu
cat >"$1/unicorn.rb" <<CONF
worker_processes $2
working_directory "$1"
listen "0.0.0.0:9000", backlog: 1024
timeout 60
logger Logger.new(File::NULL)
CONF
export FOLDER="$1" RACK_ENV=deployment
exec unicorn --config-file "$1/unicorn.rb" --no-default-middleware "$3"
