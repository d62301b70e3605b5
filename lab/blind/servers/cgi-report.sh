#!/bin/sh
# A page that a process of its own makes for each request.
body="$(printf '%s' "$QUERY_STRING" | sha256sum | cut -d' ' -f1)"
printf 'Content-Type: text/plain\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s' "${#body}" "$body"
