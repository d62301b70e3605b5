#!/bin/sh
# Squid in front of an API, keeping nothing: squid.sh FOLDER API-NAME
set -eu
chmod a+rwx "$1"
cat >"$1/squid.conf" <<CONF
http_port 80 accel defaultsite=$2 no-vhost
cache_peer $2 parent 9000 0 no-query no-digest originserver name=api
http_access allow all
cache deny all
access_log none
cache_log $1/cache.log
cache_store_log none
pid_filename none
max_filedescriptors 4096
netdb_filename none
coredump_dir $1
shutdown_lifetime 0 seconds
CONF
exec squid -N -f "$1/squid.conf"
