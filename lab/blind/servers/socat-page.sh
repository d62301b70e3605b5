#!/bin/sh
# Reads one request, waits for 100 ms and answers: a process for each connection.
while read -r line; do
    [ "$line" != "$(printf '\r')" ] || break
done
sleep 0.1
printf 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nwaited'
