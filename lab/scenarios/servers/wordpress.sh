#!/bin/sh
# Debian's WordPress under PHP's process manager, for nginx on another host: wordpress.sh FOLDER DATABASE_HOST CHILDREN
# The manager's numbers are those of Debian's configuration except for the number of children.
set -eu
folder=$1
cp -r /usr/share/wordpress /run/wordpress
rm -f /run/wordpress/wp-config.php
cat >/run/wordpress/wp-config.php <<PHP
<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'plimsoll');
define('DB_PASSWORD', '');
define('DB_HOST', '$2');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', 'http://' . (\$_SERVER['HTTP_HOST'] ?? 'web'));
define('WP_SITEURL', WP_HOME);
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
\$table_prefix = 'wp_';
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
PHP
cat >"$folder/install.php" <<'PHP'
<?php
mysqli_query(mysqli_connect($argv[1], 'plimsoll', ''), 'CREATE DATABASE wordpress');
define('WP_INSTALLING', true);
require '/run/wordpress/wp-load.php';
require '/run/wordpress/wp-admin/includes/upgrade.php';
wp_install('Lab', 'admin', 'admin@example.com', true, '', 'password');
for ($number = 1; $number <= 9; $number++) {
    $text = str_repeat("A post of the lab, number $number. ", 40);
    wp_insert_post(['post_title' => "Post $number", 'post_content' => $text, 'post_status' => 'publish']);
}
PHP
php "$folder/install.php" "$2" >"$folder/install.log" 2>&1
cat >"$folder/fpm.conf" <<CONF
[global]
error_log = /dev/stderr
daemonize = no
pid = $folder/fpm.pid
[www]
user = root
group = root
listen = 0.0.0.0:9000
pm = dynamic
pm.max_children = $3
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
CONF
for php in /usr/sbin/php-fpm*; do
    exec "$php" --allow-to-run-as-root --nodaemonize --fpm-config "$folder/fpm.conf"
done
