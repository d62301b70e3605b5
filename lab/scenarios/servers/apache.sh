#!/bin/sh
# Apache with a fixed number of processes, one connection each, that passes everything on: apache.sh FOLDER PROCESSES URL
set -eu
folder=$1
modules=/usr/lib/apache2/modules
chmod a+rwx "$folder"
cat >"$folder/httpd.conf" <<CONF
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
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
KeepAlive Off
ProxyPass "/" "$3"
CONF
exec apache2 -f "$folder/httpd.conf" -D FOREGROUND
