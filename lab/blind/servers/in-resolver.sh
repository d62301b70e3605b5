#!/bin/sh
# Runs a command that asks the name server of another host: in-resolver.sh FOLDER ADDRESS COMMAND…
set -eu
echo "nameserver $2" >"$1/resolv.conf"
export RESOLVER="$1/resolv.conf"
shift 2
# shellcheck disable=SC2016
exec unshare --mount --propagation private sh -c 'mount --bind "$RESOLVER" /etc/resolv.conf; exec "$@"' sh "$@"
