#!/bin/sh
# Debian's MariaDB with a folder of its own and a user who may have so many connections (0: any number): mariadb.sh FOLDER CONNECTIONS
set -eu
data=$1/data
mariadb-install-db --no-defaults --datadir="$data" --user=root --auth-root-authentication-method=normal \
    --skip-test-db >"$1/install.log" 2>&1
cat >"$1/users.sql" <<SQL
CREATE USER IF NOT EXISTS plimsoll@'%' WITH MAX_USER_CONNECTIONS $2;
SQL
exec mariadbd --no-defaults --user=root --datadir="$data" --socket="$1/mariadb.sock" --pid-file="$1/mariadb.pid" \
    --bind-address=0.0.0.0 --port=3306 --init-file="$1/users.sql" --skip-name-resolve --log-warnings=0
