#!/bin/sh
# PHP's process manager with a fixed number of children, for nginx on another host: php.sh FOLDER SCRIPT CHILDREN
set -eu
folder=$1
cp "$2" /run/wait.php
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
pm = static
pm.max_children = $3
CONF
for php in /usr/sbin/php-fpm*; do
    exec "$php" --allow-to-run-as-root --no-php-ini --nodaemonize --fpm-config "$folder/fpm.conf"
done
