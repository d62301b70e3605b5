#!/bin/sh
# PHP's process manager, for nginx on another host: php.sh FOLDER SCRIPT CHILDREN [SPARE]. It has a fixed number of children, or with
# SPARE begins with so many and adds one, then two, then four a second while fewer than two are idle.
set -eu
folder=$1
cp "$2" /run/wait.php
growth='pm = static'
if [ $# -gt 3 ]; then
    growth="pm = dynamic
pm.start_servers = $4
pm.min_spare_servers = 2
pm.max_spare_servers = $4
pm.max_spawn_rate = 4"
fi
cat >"$folder/fpm.conf" <<CONF
[global]
error_log = /dev/stderr
daemonize = no
pid = $folder/fpm.pid
[www]
user = root
group = root
listen = 0.0.0.0:9000
listen.backlog = 1024
$growth
pm.max_children = $3
CONF
for php in /usr/sbin/php-fpm*; do
    exec "$php" --allow-to-run-as-root --no-php-ini --nodaemonize --fpm-config "$folder/fpm.conf"
done
