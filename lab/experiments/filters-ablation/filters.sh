#!/bin/sh
# The service with its filters: filters.sh SERVICES FOLDER FLAG…
# Few records may wait to be sent, so that no run has to send what the one before it left.
services=$1 folder=$2
shift 2
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -Djava.io.tmpdir="$folder" \
    -jar "$services/filters.jar" --waiting=200 --collector=http://collector:9100 --memcached=cache:11211 \
    --database='jdbc:mariadb://db:3306/apps?user=plimsoll&createDatabaseIfNotExist=true' "$@"
