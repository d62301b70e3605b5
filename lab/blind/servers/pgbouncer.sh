#!/bin/sh
# PgBouncer with so many connections to a PostgreSQL, each of them lent for a transaction: pgbouncer.sh FOLDER ADDRESS CONNECTIONS
set -eu
chmod a+rwx "$1"
cat >"$1/pgbouncer.ini" <<CONF
[databases]
postgres = host=$2 port=5432 user=postgres
[pgbouncer]
listen_addr = 0.0.0.0
listen_port = 6432
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = $3
max_client_conn = 500
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
log_stats = 0
CONF
cd /
exec setpriv --reuid=postgres --regid=postgres --clear-groups pgbouncer -q "$1/pgbouncer.ini"
