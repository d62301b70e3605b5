#!/bin/sh
# Debian's PostgreSQL with a folder of its own, open to its lab: postgres.sh FOLDER MAX-CONNECTIONS [SQL]
set -eu
data=$1/data
connections=$2
sql=${3:-}
chmod a+rwx "$1"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
bin=$(echo /usr/lib/postgresql/*/bin)
cd /
as "$bin/initdb" --pgdata="$data" --username=postgres --auth=trust --no-sync --locale=C >"$1/initdb.log"
echo "host all all all trust" >>"$data/pg_hba.conf"
if [ -n "$sql" ]; then
    echo "$sql" | tr '\n' ' ' | as "$bin/postgres" --single -D "$data" postgres >"$1/sql.log"
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$data" -p 5432 \
    -c listen_addresses=0.0.0.0 -c "unix_socket_directories=$1" -c "max_connections=$connections" \
    -c shared_buffers=32MB -c fsync=off -c autovacuum=off -c jit=off -c max_parallel_workers_per_gather=0
