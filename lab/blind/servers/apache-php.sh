#!/bin/sh
# Apache with a fixed number of processes that have PHP in them, for one script: apache-php.sh FOLDER PROCESSES SCRIPT
set -eu
folder=$1
modules=/usr/lib/apache2/modules
mkdir "$folder/sessions"
chmod a+rwx "$folder" "$folder/sessions"
cat >"$folder/httpd.conf" <<CONF
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule alias_module $modules/mod_alias.so
LoadModule php_module $modules/libphp8.2.so
Listen 80
ServerName web
User www-data
Group www-data
ErrorLog /dev/stderr
PidFile $folder/httpd.pid
Mutex pthread
ServerLimit $2
StartServers $2
MaxSpareServers $2
MaxRequestWorkers $2
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 60
AliasMatch "^/" "$3"
<FilesMatch "\.php$">
    SetHandler application/x-httpd-php
</FilesMatch>
php_admin_value session.save_path "$folder/sessions"
php_admin_value session.gc_probability 0
CONF
exec apache2 -f "$folder/httpd.conf" -D FOREGROUND
